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
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import dev.stratum.bench.harness.ForkClass;
import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.Method;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import org.apache.hadoop.hbase.io.hfile.bucket.FileIOEngine;

/**
 * Injects a latency into each read of a bucket cache's file and of the fork's segments while it is
 * open, with this fork's jars and with the published ones: an agent that this JVM loads into itself
 * adds a sleep at the beginning of the method of <code>FileIOEngine</code> that reads. A read from
 * the page cache costs only the copy; with the sleep it costs about what one from a device costs.
 * <p>
 * The thread sleeps, as it does while a device reads, and releases its core. A sleep takes longer
 * than its argument, by the timer's slack and the wake-up (about 65 us with Linux's defaults), so
 * the argument is calibrated. The actual latency is measured and printed at the end. One instance
 * at a time in a JVM.
 */
public final class DelayedReads implements Closeable {
  private static final int TRIALS = 300;
  private static final int ROUNDS = 4;
  private static final LongAdder COUNT = new LongAdder();
  private static final LongAdder NANOS = new LongAdder();
  private static volatile long parkNanos;

  private int micros;
  private long park;
  private final ClassReloadingStrategy agent;

  /** The advice that runs before the read. */
  static final class Wait {
    private Wait() {
    }

    @Advice.OnMethodEnter
    static void enter() {
      DelayedReads.await();
    }
  }

  /**
   * @param micros how long each read waits before it reads, in microseconds and in the mean; 0 for
   *               reads as they are
   * @throws IllegalStateException if this machine cannot sleep for so short a time
   */
  public DelayedReads(int micros) {
    this(micros, micros == 0 ? 0 : calibrateOrFail(micros));
  }

  /**
   * Creates reads with a calibrated sleep, so that two JVMs use one value.
   * @param micros as in the other constructor
   * @param park   the result of {@link #calibrate}
   */
  public DelayedReads(int micros, long park) {
    this.micros = micros;
    this.park = park;
    if (micros == 0) {
      agent = null;
      return;
    }
    parkNanos = park;
    resetCounts();
    ByteBuddyAgent.install();
    agent = ClassReloadingStrategy.fromInstalledAgent();
    delay(FileIOEngine.class, readMethod(), 1);
    if (ForkClass.FILE_SEGMENT_DEVICE.isPresent()) {
      delay(ForkClass.FILE_SEGMENT_DEVICE.get(), "read", 2);
    }
  }

  private void delay(Class<?> device, String method, int arguments) {
    new ByteBuddy().redefine(device)
      .visit(Advice.to(Wait.class).on(named(method).and(takesArguments(arguments)))).make()
      .load(device.getClassLoader(), agent);
  }

  /** Returns the method that reads the file: on the fork <code>read</code> may share a read. */
  private static String readMethod() {
    return Stream.of(FileIOEngine.class.getDeclaredMethods()).map(Method::getName)
      .filter("readAlone"::equals).findFirst().orElse("read");
  }

  private static long calibrateOrFail(int micros) {
    long[] found = find(TimeUnit.MICROSECONDS.toNanos(micros));
    if (found[0] == 1 && found[1] > TimeUnit.MICROSECONDS.toNanos(micros) * 5 / 4) {
      throw new IllegalStateException("The shortest sleep takes " + found[1] / 1000
        + " us here, so reads cannot be delayed by " + micros + " us: choose a larger value");
    }
    return found[0];
  }

  /** Returns the ns to request for a sleep of so many us; 1 if the shortest takes longer. */
  public static long calibrate(int micros) {
    return find(TimeUnit.MICROSECONDS.toNanos(micros))[0];
  }

  /** Returns the requested and the actual sleep, in ns. */
  private static long[] find(long wanted) {
    long park = wanted;
    long taken = 0;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < TRIALS; i++) {
        LockSupport.parkNanos(park);
      }
      taken = (System.nanoTime() - start) / TRIALS;
      park = Math.max(1, park + wanted - taken);
    }
    return new long[] { park, taken };
  }

  /**
   * Has reads not wait until {@link #resume}, to warm up: the JVM forgets all that it has compiled
   * when a class is changed, and may take long to do that again beside threads that are busy.
   */
  public void pause() {
    parkNanos = 0;
  }

  /** Has reads wait again. */
  public void resume() {
    parkNanos = park;
  }

  /**
   * Has reads wait for another time from now on. Those that waited before are forgotten.
   * @param newMicros as in the constructors, more than 0
   * @param newPark   the result of {@link #calibrate} for it
   */
  public void resume(int newMicros, long newPark) {
    micros = newMicros;
    park = newPark;
    resetCounts();
    resume();
  }

  /** Forgets how many reads have waited so far, and how long. */
  public static void resetCounts() {
    COUNT.reset();
    NANOS.reset();
  }

  /** Called by the read, on the reader's thread. */
  public static void await() {
    long park = parkNanos;
    if (park == 0) {
      return;
    }
    long start = System.nanoTime();
    LockSupport.parkNanos(park);
    NANOS.add(System.nanoTime() - start);
    COUNT.increment();
  }

  /** Returns how many reads waited. */
  public long count() {
    return micros == 0 ? 0 : COUNT.sum();
  }

  /** Returns how long they waited in the mean, in microseconds; NaN if none did. */
  public double meanMicros() {
    return count() == 0 ? Double.NaN : NANOS.sum() / 1000.0 / count();
  }

  @Override
  public void close() throws IOException {
    if (agent != null) {
      agent.reset(FileIOEngine.class);
      if (ForkClass.FILE_SEGMENT_DEVICE.isPresent()) {
        agent.reset(ForkClass.FILE_SEGMENT_DEVICE.get());
      }
      System.out.printf("# delayed reads of L2: %d, by %.1f us in the mean%n",
        count(), meanMicros());
    }
  }
}
