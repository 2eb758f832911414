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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Collections;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Tombstone;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexedBlocks;
import org.apache.hadoop.hbase.io.hfile.segment.index.PagePool;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariant of {@link DroppedFiles}, under all {@link Interleavings} with at most three
 * preemptions of a recovery, of one or two threads that drop a file, and of one that caches it
 * again, and of a store that is stopped before its recovery is done. A thread can be preempted
 * before and after each access to the directory and to the files that are known as dead, and where
 * the log has been read. Each of three steps that are left out or done in another order is found.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestDroppedFilesInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDroppedFilesInterleavings.class);

  private static final int MAX_PREEMPTIONS = 3;
  private static final String DROPPED = "dropped";
  private static final String KEPT = "kept";
  private static final int BLOCKS = 2;
  /** A location in a segment that was never written. */
  private static final long ELSEWHERE =
    Location.of(StoredBlocksFixture.SEGMENTS - 1, 0, Location.UNIT, 0, 0);

  /** What a defect would do. */
  private enum Defect {
    NONE,
    /** The recovery does not look again after it has inserted. */
    NO_SECOND_LOOK,
    /** The directory drops a file before it is known as dead. */
    DROPPED_FIRST,
    /** A cleaner ends although the log was not read yet. */
    NO_WAIT_FOR_LOG
  }

  /** Counts the logs that were not read yet. */
  private final class UnreadLogs extends CountDownLatch {
    private final Interleavings.Permits read = threads.new Permits(0);

    UnreadLogs(int count) {
      super(count);
    }

    @Override
    public void countDown() {
      threads.point();
      super.countDown();
      read.release();
    }

    @Override
    public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
      while (getCount() > 0) {
        read.acquire();
      }
      return true;
    }
  }

  private SimulatedDevices devices = new SimulatedDevices();
  private final SegmentStoreSettings settings = StoredBlocksFixture
    .settings(Collections.singletonList(StoredBlocksFixture.PATH), 0.25, 0);
  private final PagePool pages = new PagePool(1);
  private Interleavings threads = new Interleavings(MAX_PREEMPTIONS);
  private Defect defect = Defect.NONE;
  private StoreDevices opened;
  private SegmentTable table;
  private CachedFiles files;
  private IndexedBlocks blocks;
  private SegmentIndex index;
  private DroppedFiles dropped;
  private SegmentRecovery recovery;

  /** A directory whose calls are steps. */
  private final class Steps implements SegmentDirectory {
    @Override
    public boolean recovered(String fileName, long blockOffset, long location) {
      threads.point();
      boolean is = blocks.recovered(fileName, blockOffset, location);
      threads.point();
      return is;
    }

    @Override
    public int removed(String fileName, long blockOffset, long location) {
      threads.point();
      return defect == Defect.NO_SECOND_LOOK
        ? NOT_HERE
        : blocks.removed(fileName, blockOffset, location);
    }

    @Override
    public void regionRecovered(String fileName, String region) {
      blocks.regionRecovered(fileName, region);
    }

    @Override
    public void completeRecovered(CompleteFile file) {
      blocks.completeRecovered(file);
    }

    // A recovery calls none of these.

    @Override
    public boolean stored(CachedFile file, long blockOffset, long location) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String regionOf(String fileName) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isComplete(String fileName) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int accesses(String fileName, long blockOffset, long location) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean moved(String fileName, long blockOffset, long from, long to) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isFreeingOrphans() {
      throw new UnsupportedOperationException();
    }

    @Override
    public long inMemoryBytes() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void forgetSegments(int first, int end) {
      throw new UnsupportedOperationException();
    }
  }

  /** A former process has left one segment with blocks of two files. */
  @Before
  public void setUp() throws Exception {
    SegmentIndex former = new SegmentIndex(1000, pages);
    CachedFiles formerFiles = new CachedFiles();
    IndexedBlocks directory = new IndexedBlocks(formerFiles, former);
    SegmentStore store = SegmentStore.open(settings, directory, devices);
    directory.onFreed(store::freed);
    store.start("Former");
    for (int i = 0; i < BLOCKS; i++) {
      insert(store, formerFiles, DROPPED, i);
      insert(store, formerFiles, KEPT, i);
    }
    store.stop();
    store.close();
    former.clear();
  }

  private static void insert(SegmentStore store, CachedFiles in, String name, long offset)
    throws InterruptedException {
    CachedFile file = in.acquire(name);
    HFileBlock block = StoredBlocksFixture.block(name, offset);
    assertTrue(store.insert(file, offset, block, 0, InsertSource.WRITE,
      TimeUnit.MINUTES.toNanos(1)));
    block.release();
    file.release();
  }

  @After
  public void tearDown() {
    threads.close();
  }

  private void open() throws IOException {
    SegmentStoreMetrics metrics = new SegmentStoreMetrics();
    StoreMonitor monitor = new StoreMonitor();
    opened = StoreDevices.open(settings, devices);
    table = new SegmentTable(opened, monitor, metrics);
    index = new SegmentIndex(1000, pages);
    files = new CachedFiles();
    blocks = new IndexedBlocks(files, index);
    blocks.onFreed(table::freed);
    dropped =
      new DroppedFiles(table, monitor, metrics, new UnreadLogs(table.devices().all().size()));
    // No device fails here, so there is nothing to be done about that.
    recovery = new SegmentRecovery(opened.all().get(0), table, null, dropped, new Steps(), metrics,
      new ConcurrentHashMap<>());
  }

  private void drop() {
    threads.point();
    CachedFile file;
    Tombstone tombstone;
    if (defect == Defect.DROPPED_FIRST) {
      file = blocks.drop(DROPPED);
      threads.point();
      tombstone = dropped.dropping(DROPPED);
    } else {
      tombstone = dropped.dropping(DROPPED);
      threads.point();
      file = blocks.drop(DROPPED);
    }
    threads.point();
    dropped.dropped(tombstone);
    threads.point();
    if (file != null) {
      blocks.sweep(file);
    }
  }

  /** Returns in how many orders the threads have run. */
  private int tryAll(Interleavings.Body... others) throws Exception {
    int orders = 0;
    do {
      open();
      Interleavings.Body[] bodies = new Interleavings.Body[others.length + 1];
      bodies[0] = recovery::run;
      System.arraycopy(others, 0, bodies, 1, others.length);
      threads.run(true, bodies);
      threads.check();
      assertTrue(threads.isDone());
      check();
      index.clear();
      opened.close();
      orders++;
    } while (threads.next());
    return orders;
  }

  private void check() {
    long bytes = 0;
    for (int i = 0; i < BLOCKS; i++) {
      long location = blocks.find(DROPPED, i);
      assertTrue("a block of a dropped file is back",
        location == Location.ABSENT || Location.isSame(location, ELSEWHERE));
      assertTrue("a block is lost", Location.isPresent(blocks.find(KEPT, i)));
      bytes += Location.length(blocks.find(KEPT, i));
    }
    assertEquals("live bytes", bytes, table.liveBytes());
  }

  /** A file is dropped, the store is stopped, and its cleaner ends. */
  private void dropAndStop() throws IOException, InterruptedException {
    drop();
    StoreDevice device = opened.all().get(0);
    if (defect != Defect.NO_WAIT_FOR_LOG) {
      dropped.awaitLog(device);
    }
    threads.point();
    if (device.hasTombstones()) {
      dropped.log(device);
    }
  }

  /** Returns in how many orders the threads have run. */
  private int tryAllStops() throws Exception {
    SimulatedDevices former = devices;
    int orders = 0;
    do {
      devices = former.afterKill();
      open();
      threads.run(true, recovery::run, this::dropAndStop);
      threads.check();
      assertTrue(threads.isDone());
      index.clear();
      opened.close();
      open();
      recovery.run();
      check();
      index.clear();
      opened.close();
      orders++;
    } while (threads.next());
    devices = former;
    return orders;
  }

  private void cacheAgain() {
    threads.point();
    // Its segment is not the recovery's, so it need not be counted.
    CachedFile file = files.acquire(DROPPED);
    if (file != null) {
      blocks.stored(file, 0, ELSEWHERE);
      file.release();
    }
  }

  @Test
  public void testNothingDroppedComesBack() throws Exception {
    assertTrue(tryAll(this::drop) > 50);
    assertTrue(tryAll(this::drop, this::drop) > 500);
  }

  @Test
  public void testFileThatIsCachedAgainHasNothingOfBefore() throws Exception {
    assertTrue(tryAll(this::drop, this::cacheAgain) > 500);
  }

  @Test
  public void testNextProcessRestoresNothingDroppedBeforeTheStop() throws Exception {
    assertTrue(tryAllStops() > 50);
  }

  @Test
  public void testStopThatDoesNotWaitIsFound() throws Exception {
    defect = Defect.NO_WAIT_FOR_LOG;
    AssertionError found = assertThrows(AssertionError.class, this::tryAllStops);
    assertEquals("a block of a dropped file is back", found.getMessage());
  }

  @Test
  public void testDefectsAreFound() throws Exception {
    for (Defect each : new Defect[] { Defect.NO_SECOND_LOOK, Defect.DROPPED_FIRST }) {
      defect = each;
      AssertionError found = assertThrows(AssertionError.class, () -> tryAll(this::drop));
      assertEquals(each.toString(), "a block of a dropped file is back", found.getMessage());
      threads.close();
      threads = new Interleavings(MAX_PREEMPTIONS);
    }
  }
}
