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
package org.apache.hadoop.hbase.io;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/**
 * How many bytes of heap a piece of code allocates: those of the thread that runs it and of others
 * whose name has a given part, as the least of several rounds, since the first ones run code that
 * is not compiled yet.
 */
public final class AllocatedBytes {
  private static final int ROUNDS = 8;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final String others;

  /** What may fail. */
  public interface Code {
    void run() throws Exception;
  }

  private AllocatedBytes(String others) {
    this.others = others;
  }

  /** Counts the calling thread alone. */
  public static AllocatedBytes ofThisThread() {
    return new AllocatedBytes(null);
  }

  /** Counts the threads, too, whose name has this part and that live for as long as this counts. */
  public static AllocatedBytes ofThisThreadAnd(String others) {
    return new AllocatedBytes(others);
  }

  /**
   * Runs the code eight times so often. Buffers are not watched for leaks meanwhile, which would
   * allocate more than what is counted.
   * @return the bytes of one time, of the round that had the least
   */
  public long perCall(int calls, Code code) throws Exception {
    ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    try {
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        long before = sum();
        for (int i = 0; i < calls; i++) {
          code.run();
        }
        least = Math.min(least, sum() - before);
      }
      return least / calls;
    } finally {
      ResourceLeakDetector.setLevel(level);
    }
  }

  private long sum() {
    long sum = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    if (others != null) {
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread != Thread.currentThread() && thread.getName().contains(others)) {
          sum += threads.getThreadAllocatedBytes(thread.getId());
        }
      }
    }
    return sum;
  }
}
