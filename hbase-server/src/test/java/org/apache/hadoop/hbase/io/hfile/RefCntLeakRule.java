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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.hbase.nio.RefCnt;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/**
 * Fails a test that drops a reference-counted buffer or bucket entry without releasing it: watches
 * every {@link RefCnt} with the leak detector at its paranoid level, and looks for reports when the
 * test is over. What is still reachable then, from a field of the test for example, is no leak. A
 * bucket cache does not release its entries on shutdown, so evict them first. A test that failed
 * did not get that far, so what it leaves is not looked at.
 */
public class RefCntLeakRule implements TestRule {

  /**
   * Garbage collections after which what was leaked is taken to have been found: one, and one more
   * as the reports of the first may be late.
   */
  private static final int COLLECTIONS = 2;

  /** The class whose last test left nothing to be found; a collection takes a tenth of a second. */
  private static volatile Class<?> collected;

  private final Queue<String> leaks = new ConcurrentLinkedQueue<>();

  @Override
  public Statement apply(Statement base, Description description) {
    return new Statement() {
      @Override
      public void evaluate() throws Throwable {
        ResourceLeakDetector.Level levelBefore = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        try {
          // Leaks of an earlier test must not be reported as this one's
          if (collected != description.getTestClass()) {
            collect();
          }
          collected = null;
          RefCnt.detector.setLeakListener((resource, records) -> leaks.add(resource + records));
          base.evaluate();
          collect();
          collected = description.getTestClass();
        } finally {
          RefCnt.detector.setLeakListener(null);
          ResourceLeakDetector.setLevel(levelBefore);
        }
        assertEquals("Leaked reference counts", Collections.emptyList(), new ArrayList<>(leaks));
      }
    };
  }

  private void collect() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted while looking for leaks", e);
      }
      // The detector reports what it has found when it is asked to track something new
      RefCnt.create(() -> {
      }).release();
    }
  }
}
