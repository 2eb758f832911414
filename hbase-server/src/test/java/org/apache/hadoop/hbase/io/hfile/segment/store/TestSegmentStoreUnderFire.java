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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Threads that insert, read and evict while devices flip bits, fail and come back. For as many
 * insertions as <code>-Dsegment.soak.insertions</code> says, and for as many minutes, 10 at most,
 * as <code>-Dsegment.soak.minutes</code> does.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentStoreUnderFire {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentStoreUnderFire.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private static final int INSERTIONS =
    Integer.getInteger("segment.soak.insertions", 6000);
  private static final long MINUTES = Long.getLong("segment.soak.minutes", 0);
  private static final int FILES = 5;

  private final AtomicInteger inserted = new AtomicInteger();
  private final AtomicInteger read = new AtomicInteger();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
  private StoredBlocksFixture blocks;

  private boolean isOver() {
    return inserted.get() >= INSERTIONS && System.nanoTime() >= end || failure.get() != null;
  }

  private void insert(Random random) {
    int offset = inserted.getAndIncrement();
    InsertSource kind = InsertSource.values()[random.nextInt(3)];
    blocks.insert("f" + offset % FILES, offset, kind, 1_000_000);
  }

  private void readOrEvict(Random random) {
    int offset = Math.max(0, inserted.get() - 1 - random.nextInt(500));
    String file = "f" + offset % FILES;
    if (random.nextInt(20) == 0) {
      blocks.directory.remove(file, offset);
    } else if (blocks.isReadable(file, offset)) {
      read.incrementAndGet();
      blocks.directory.setAccesses(file, offset, random.nextInt(4));
    }
  }

  private void damage(Random random) {
    SimulatedDevices.Medium medium = blocks.devices.medium(random.nextBoolean() ? "a" : "b");
    switch (random.nextInt(8)) {
      case 0:
        medium.failReads(true);
        break;
      case 1:
        medium.failWrites(true);
        break;
      case 2:
        medium.failToOpen(true);
        break;
      default:
        medium.flipBit((long) (random.nextDouble() * medium.bytes().length * Byte.SIZE));
    }
    if (random.nextInt(3) == 0) {
      heal();
    }
    int before = inserted.get();
    while (inserted.get() < before + 20 && !isOver()) {
      Thread.yield();
    }
  }

  private void heal() {
    for (String path : new String[] { "a", "b" }) {
      blocks.devices.medium(path).failReads(false);
      blocks.devices.medium(path).failWrites(false);
      blocks.devices.medium(path).failToOpen(false);
    }
  }

  private Thread thread(int number, Consumer<Random> step) {
    Thread thread = new Thread(() -> {
      Random random = new Random(number);
      while (!isOver()) {
        step.accept(random);
      }
    });
    thread.setUncaughtExceptionHandler((t, e) -> failure.compareAndSet(null, e));
    return thread;
  }

  @Test
  public void testNoByteIsWrongAndNothingLeaksWhileDevicesFail()
    throws IOException, InterruptedException {
    blocks = new StoredBlocksFixture(new SimulatedDevices(), StoredBlocksFixture
      .settings(StoredBlocksFixture.paths("a", "b"), 0.25, 0)).start();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      threads.add(thread(threads.size(), this::insert));
      threads.add(thread(threads.size(), this::readOrEvict));
    }
    threads.add(thread(threads.size(), this::damage));
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
    heal();
    CachedBlockFixture.await(() -> blocks.store.bypassedDevices() == 0);
    blocks.awaitQuiet();
    assertTrue(read.get() > 0);
    blocks.readAll();
    assertEquals("What was wrong has been forgotten", blocks.directory.all().size(),
      blocks.readAll());
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
    blocks.insert("new", 0);
    blocks.assertReadable("new", 0);
    blocks.close();
    assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
      blocks.allocator.getFreeBufferCount());
  }
}
