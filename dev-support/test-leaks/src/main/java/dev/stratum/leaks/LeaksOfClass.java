/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package dev.stratum.leaks;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import org.apache.hadoop.hbase.nio.RefCnt;
import org.apache.hbase.thirdparty.io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/**
 * Has Netty's leak detectors report what a test class has leaked when the class is over.
 * <p>
 * A detector learns of a leak when the garbage collector does, and reports it when the next buffer
 * is made. Most test classes end before either happens. Found by the service loader, so being on
 * the class path of tests is all that it needs; the reports go to the log of the class, where
 * <code>fork:leaks</code> looks for them.
 */
public final class LeaksOfClass implements TestExecutionListener {
  /** What is reachable only from what the first collection frees is found by the second. */
  private static final int COLLECTIONS = 2;
  private static final long COLLECTION_TIMEOUT_MILLIS = 10_000;

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    // The engine is the root, and its children are classes.
    if (test.getParentIdObject().map(id -> id.getSegments().size() == 1).orElse(false)) {
      report();
    }
  }

  private static void report() {
    try {
      for (int i = 0; i < COLLECTIONS; i++) {
        collect();
        RefCnt.create(() -> {
        }).release();
        UnpooledByteBufAllocator.DEFAULT.directBuffer(1).release();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns when what was garbage has been queued for its detector, with little doubt. */
  private static void collect() throws InterruptedException {
    ReferenceQueue<Object> queue = new ReferenceQueue<>();
    PhantomReference<Object> garbage = new PhantomReference<>(new Object(), queue);
    System.gc();
    if (queue.remove(COLLECTION_TIMEOUT_MILLIS) != garbage) {
      System.err.println("Cannot tell what was leaked: the garbage collector has not run");
    }
  }
}
