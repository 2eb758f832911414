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
package dev.stratum.bench.blockcache;

import static net.bytebuddy.matcher.ElementMatchers.named;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import org.apache.hadoop.hdfs.DFSInputStream;

/**
 * Injects a latency into each positional read that this JVM's HDFS client makes, with this fork's
 * jars and with the published ones, as {@link DelayedReads} does for a cache's file: a block of
 * HDFS that was just written is in the page cache here, a block on a disk costs a seek. Reads of a
 * stream, which compactions use, are as they are. The thread sleeps. Thread-safe.
 */
public final class DelayedHdfsReads {
  private static final LongAdder COUNT = new LongAdder();
  private static volatile long parkNanos;

  private DelayedHdfsReads() {
  }

  /** The advice that runs before the read. */
  static final class Wait {
    private Wait() {
    }

    @Advice.OnMethodEnter
    static void enter() {
      DelayedHdfsReads.await();
    }
  }

  /** Changes the client's class, once in a JVM and before anything is read. */
  public static void install() {
    ByteBuddyAgent.install();
    new ByteBuddy().redefine(DFSInputStream.class)
      .visit(Advice.to(Wait.class).on(named("pread"))).make()
      .load(DFSInputStream.class.getClassLoader(), ClassReloadingStrategy.fromInstalledAgent());
  }

  /**
   * Has reads wait from now on.
   * @param micros how long each of them waits at least, in microseconds; 0 for not at all
   */
  public static void delay(int micros) {
    parkNanos = TimeUnit.MICROSECONDS.toNanos(micros);
  }

  /** Called by the read, on the reader's thread. */
  public static void await() {
    long park = parkNanos;
    if (park > 0) {
      LockSupport.parkNanos(park);
      COUNT.increment();
    }
  }

  /** Returns how many reads have waited so far. */
  public static long count() {
    return COUNT.sum();
  }
}
