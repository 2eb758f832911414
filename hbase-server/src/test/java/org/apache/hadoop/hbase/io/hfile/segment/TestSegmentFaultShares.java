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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many blocks a fault may cost, on two and on four devices, while eight threads read, insert
 * and evict. Each fault lasts as many seconds as <code>-Dsegment.fault.seconds</code> says. What is
 * lost is what is missing when the fault has ended and before anybody inserts it again; all of it
 * finds a place afterwards.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, LargeTests.class })
public class TestSegmentFaultShares {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentFaultShares.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestSegmentFaultShares.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private static final long MILLIS =
    Math.round(1000 * Double.parseDouble(System.getProperty("segment.fault.seconds", "0.4")));
  private static final int SEGMENTS = 96;
  private static final int KEPT_SEGMENTS = SEGMENTS / 3;
  private static final int SEGMENT = StoredBlocksFixture.SEGMENT;
  /** What is not synced is kept twice by the simulation. */
  private static final long SYNC_BYTES = 1 << 20;
  private static final String KEPT = "kept";
  /** Blocks that a writer keeps before it evicts them, which several segments have. */
  private static final int CHURNED = 15;

  @Parameterized.Parameters(name = "{0} devices")
  public static Collection<Integer> devices() {
    return Arrays.asList(2, 4);
  }

  @Parameterized.Parameter
  public int deviceCount;

  private final SimulatedDevices devices = new SimulatedDevices();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicInteger churned = new AtomicInteger();
  private final AtomicInteger reads = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private StoredBlocksFixture blocks;
  private SimulatedDevices.Medium failing;
  private int kept;
  private volatile boolean ended;

  /** A third of the tier is kept; blocks inserted and evicted meanwhile use only the rest. */
  @Before
  public void setUp() throws IOException {
    String[] paths = { "failing", "b", "c", "d" };
    blocks = new StoredBlocksFixture(devices,
      new SegmentStoreSettings(StoredBlocksFixture.paths(Arrays.copyOf(paths, deviceCount)),
        deviceCount * (Superblock.HEADER_SIZE + (long) SEGMENTS * SEGMENT), SEGMENT,
        StoredBlocksFixture.BUFFERS, 0, 0, 3, SYNC_BYTES)).start();
    failing = devices.medium("failing");
    long target = (long) deviceCount * KEPT_SEGMENTS;
    while (blocks.store.metrics().segmentsWritten.sum() < target) {
      blocks.insert(KEPT, kept++);
    }
    // The last ones are in memory, and are so less and less.
    for (int i = 0; i < 8; i++) {
      thread(i, i < 5 ? this::read : churn("churn" + i)).start();
    }
    int start = churned.get();
    CachedBlockFixture.await(() -> churned.get() > start + 500);
  }

  private void setStall(long millis) {
    blocks.store.devices().get(0).stallsAfter(TimeUnit.MILLISECONDS.toNanos(millis));
  }

  private Thread thread(int number, Consumer<Random> step) {
    Thread thread = new Thread(() -> {
      Random random = new Random(number);
      while (!ended && failure.get() == null) {
        step.accept(random);
      }
    });
    thread.setUncaughtExceptionHandler((t, e) -> failure.compareAndSet(null, e));
    threads.add(thread);
    return thread;
  }

  private void read(Random random) {
    if (blocks.isReadable(KEPT, random.nextInt(kept))) {
      reads.incrementAndGet();
    }
  }

  /** Returns a thread's inserting and evicting of blocks of a file of its own. */
  private Consumer<Random> churn(String file) {
    AtomicInteger next = new AtomicInteger();
    return random -> {
      int offset = next.getAndIncrement();
      blocks.insert(file, offset, InsertSource.values()[random.nextInt(3)], 1_000_000);
      if (offset >= CHURNED) {
        blocks.directory.remove(file, offset - CHURNED);
      }
      churned.incrementAndGet();
    };
  }

  @After
  public void tearDown() throws InterruptedException {
    ended = true;
    for (Thread thread : threads) {
      thread.join();
    }
    blocks.close();
    assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
      blocks.allocator.getFreeBufferCount());
  }

  private int missing() {
    int missing = 0;
    for (int offset = 0; offset < kept; offset++) {
      missing += blocks.directory.get(KEPT, offset) == Location.ABSENT ? 1 : 0;
    }
    return missing;
  }

  /**
   * Has a fault last, and end.
   * @param most number of the kept blocks that may be lost
   */
  private void fault(String name, double most, Runnable begin, Runnable end)
    throws InterruptedException {
    int readsBefore = reads.get();
    begin.run();
    TimeUnit.MILLISECONDS.sleep(MILLIS);
    end.run();
    // These reads discover each block that the fault has lost.
    for (int i = 0; i < 3; i++) {
      blocks.readAll();
    }
    int lost = missing();
    LOG.info("{} on {} devices: {} of {} lost, {} may be; {} reads meanwhile", name, deviceCount,
      lost, kept, (int) most, reads.get() - readsBefore);
    assertTrue(name + ": " + lost + " of " + kept + ", not " + most, lost <= most);
    assertTrue(name + ": nothing was read", reads.get() > readsBefore);
    CachedBlockFixture.await(() -> blocks.store.bypassedDevices() == 0
      && blocks.store.readOnlyDevices() == 0);
    for (int offset = 0; offset < kept; offset++) {
      if (blocks.directory.get(KEPT, offset) == Location.ABSENT) {
        blocks.insert(KEPT, offset);
      }
    }
    blocks.readAll();
    assertEquals(name + ": not cached again", 0, missing());
    if (failure.get() != null) {
      throw new AssertionError(name, failure.get());
    }
  }

  private static long positionOf(int segment) {
    return Superblock.positionOf(segment, SEGMENT);
  }

  /** Returns how many of the kept blocks so many segments have. */
  private double blocksOfSegments(int count) {
    return (double) kept * count / (deviceCount * KEPT_SEGMENTS);
  }

  /**
   * Returns how many of the kept blocks the failing device has. Kept blocks are not moved while
   * there are free segments.
   */
  private int blocksOfDevice() {
    StoreDevice device = blocks.store.devices().get(0);
    int count = 0;
    for (int offset = 0; offset < kept; offset++) {
      long location = blocks.directory.get(KEPT, offset);
      if (
        location != Location.ABSENT
          && blocks.store.table().deviceOf(Location.segment(location)) == device
      ) {
        count++;
      }
    }
    return count;
  }

  @Test
  public void testSectorsThatCannotBeRead() throws InterruptedException {
    fault("sectors", 8, () -> {
      for (int segment = 1; segment < 5; segment++) {
        failing.failReadsAt(positionOf(segment) + 20_000, positionOf(segment) + 20_512);
      }
    }, failing::mendPlaces);
  }

  @Test
  public void testSegmentThatCannotBeRead() throws InterruptedException {
    fault("segment read", blocksOfSegments(2),
      () -> failing.failReadsAt(positionOf(3), positionOf(4)), failing::mendPlaces);
  }

  @Test
  public void testSegmentsThatCannotBeWritten() throws InterruptedException {
    // The end of a write may reach into the segment before a failing one.
    fault("segments write", 0, () -> failing.failWritesAt(positionOf(60), positionOf(62)),
      failing::mendPlaces);
  }

  @Test
  public void testFullFileSystem() throws InterruptedException {
    fault("no space", 0, () -> failing.setSpace(0), () -> failing.setSpace(Long.MAX_VALUE));
  }

  @Test
  public void testWritesThatHang() throws InterruptedException {
    fault("writes hang", 0, () -> failing.blockWrites(true), () -> failing.blockWrites(false));
  }

  @Test
  public void testReadsThatHangForLong() throws InterruptedException {
    // The fault lasts for more than ten stalls, after which the device is bypassed.
    setStall(MILLIS / 40);
    fault("reads hang", blocksOfDevice(), () -> failing.blockReads(true), () -> {
      failing.blockReads(false);
      // Nor is it bypassed again because this machine is busy.
      setStall(TimeUnit.HOURS.toMillis(1));
    });
  }

  @Test
  public void testReadsThatHangForShort() throws InterruptedException {
    setStall(TimeUnit.HOURS.toMillis(1));
    fault("reads wait", 0, () -> failing.blockReads(true), () -> failing.blockReads(false));
  }

  @Test
  public void testDeviceThatDies() throws InterruptedException {
    fault("device", blocksOfDevice(), () -> {
      failing.failReads(true);
      failing.failWrites(true);
    }, () -> {
      failing.failReads(false);
      failing.failWrites(false);
    });
  }

  @Test
  public void testMountThatVanishes() throws InterruptedException {
    fault("mount", blocksOfDevice(), () -> {
      failing.failReads(true);
      failing.failWrites(true);
      failing.failToOpen(true);
    }, () -> {
      failing.failToOpen(false);
      failing.failReads(false);
      failing.failWrites(false);
    });
  }

  @Test
  public void testSegmentsThatAreTornOrZeroed() throws InterruptedException {
    fault("overwritten", blocksOfSegments(3), () -> {
      failing.fill(positionOf(2), positionOf(3), 0);
      failing.fill(positionOf(5) + SEGMENT / 2, positionOf(6), 77);
    }, () -> {
    });
  }
}
