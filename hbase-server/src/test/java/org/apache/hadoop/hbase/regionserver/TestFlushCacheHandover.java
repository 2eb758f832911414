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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.DroppedSnapshotException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Flushes of rows that a store has already, some of which were read. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestFlushCacheHandover extends CacheHandoverFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushCacheHandover.class);

  private static final int ROWS = 2000;
  private static final int HOT = 60;

  private static volatile boolean fails;
  private static volatile boolean failsAgain;

  /** Fails flushes after half of the rows. */
  public static final class FailingFlush implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public InternalScanner preFlush(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, InternalScanner scanner, FlushLifeCycleTracker tracker) {
      if (!fails) {
        return scanner;
      }
      return new InternalScanner() {
        private int rows;

        @Override
        public boolean next(List<Cell> result, ScannerContext scannerContext)
          throws IOException {
          boolean more = scanner.next(result, scannerContext);
          rows += result.size();
          if (rows > ROWS / 2) {
            fails = failsAgain;
            throw new IOException("to fail the flush");
          }
          return more;
        }

        @Override
        public void close() throws IOException {
          scanner.close();
        }
      };
    }
  }

  @Override
  protected void configure(Configuration changed) {
    changed.setInt("hbase.hstore.flush.retries.number", 1);
  }

  @After
  public void failNoMore() {
    fails = false;
  }

  private void write() throws IOException {
    for (int i = 0; i < ROWS; i++) {
      region.put(new Put(Bytes.toBytes(i)).addColumn(FAMILY, QUALIFIER, new byte[100])
        .setDurability(Durability.SKIP_WAL));
    }
  }

  /** Returns the number of data blocks of the newest file that are cached, and that it has. */
  private int[] flush() throws IOException {
    region.flush(true);
    CachedBlockFixture.awaitWriters(cache);
    HFile.Reader file = region.getStore(FAMILY).getStorefiles().stream()
      .max((a, b) -> Long.compare(a.getMaxSequenceId(), b.getMaxSequenceId())).get().getReader()
      .getHFileReader();
    BlockIndexEntries root = BlockIndexEntries.root(file);
    int cached = 0;
    for (int i = 0; i < root.count(); i++) {
      int found = accesses.accesses(new BlockCacheKey(file.getName(), root.offset(i)));
      if (found != HotBlockCache.NOT_CACHED) {
        assertTrue(found + " accesses", found > 0);
        cached++;
      }
    }
    return new int[] { cached, root.count() };
  }

  private void read(int rows) throws IOException {
    for (int i = 0; i < rows; i++) {
      assertEquals(1, region.get(new Get(Bytes.toBytes(i))).size());
    }
    CachedBlockFixture.awaitWriters(cache);
  }

  @Test
  public void testBlocksOfRowsThatAreReadAreCached() throws Exception {
    createRegion(family());
    long flushes = HandoverCaches.count("FlushCount");
    write();
    assertEquals("nothing was read", 0, flush()[0]);
    read(HOT);
    write();
    int[] blocks = flush();
    // A block has about eight rows.
    assertTrue(blocks[0] + " blocks", blocks[0] >= 7 && blocks[0] < 14);
    assertTrue(blocks[1] + " blocks", blocks[1] > 200);
    assertEquals(flushes + 2, HandoverCaches.count("FlushCount"));
  }

  @Test
  public void testOffByDefault() throws Exception {
    conf.unset(HandoverSettings.ENABLED_KEY);
    createRegion(family());
    write();
    flush();
    read(HOT);
    write();
    assertEquals(0, flush()[0]);
  }

  @Test
  public void testLimit() throws Exception {
    createRegion(family());
    write();
    flush();
    read(ROWS);
    HandoverCaches.fill(cache);
    long leftOut = HandoverCaches.count("LimitBlockCount");
    write();
    int[] blocks = flush();
    assertTrue(blocks[0] + " of " + blocks[1],
      blocks[0] > blocks[1] / 10 && blocks[0] < blocks[1] / 4);
    assertEquals(blocks[1] - blocks[0], HandoverCaches.count("LimitBlockCount") - leftOut);
  }

  @Test
  public void testFailedFlushLeavesNoBlocks() throws Exception {
    createRegion(family());
    observe(FailingFlush.class);
    write();
    flush();
    read(ROWS);
    Set<String> before = HandoverCaches.files(cache);
    write();
    long aborted = HandoverCaches.count("AbortedFlushCount");
    long cached = HandoverCaches.count("L2BlockCount");
    fails = true;
    failsAgain = true;
    assertThrows(DroppedSnapshotException.class, () -> region.flush(true));
    CachedBlockFixture.awaitWriters(cache);
    assertTrue(HandoverCaches.count("L2BlockCount") > cached);
    assertEquals(aborted + 1, HandoverCaches.count("AbortedFlushCount"));
    HandoverCaches.awaitFiles(cache, before);
    fails = false;
  }

  @Test
  public void testFailedAttemptLeavesNoBlocks() throws Exception {
    conf.setInt("hbase.hstore.flush.retries.number", 2);
    conf.setInt(HConstants.HBASE_SERVER_PAUSE, 1);
    createRegion(family());
    observe(FailingFlush.class);
    write();
    flush();
    read(ROWS);
    Set<String> expected = HandoverCaches.files(cache);
    write();
    failsAgain = false;
    fails = true;
    int[] blocks = flush();
    assertFalse(fails);
    assertEquals(blocks[1], blocks[0]);
    region.getStore(FAMILY).getStorefiles()
      .forEach(file -> expected.add(file.getPath().getName()));
    HandoverCaches.awaitFiles(cache, expected);
  }
}
