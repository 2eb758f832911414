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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** {@link CachedFiles}, and with the index behind it {@link IndexedBlocks}. */
@Category({ IOTests.class, SmallTests.class })
public class TestIndexedBlocks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIndexedBlocks.class);

  private final CachedFiles files = new CachedFiles();
  private final SegmentIndex index = new SegmentIndex(1);
  private final IndexedBlocks blocks = new IndexedBlocks(files, index);
  private final AtomicLong freedBytes = new AtomicLong();
  private int nextSegment;

  private long location(int units, int category) {
    return Location.of(nextSegment++, 0, units * Location.UNIT, 0, category);
  }

  private boolean store(String name, long offset, long location) {
    CachedFile file = files.acquire(name);
    try {
      return blocks.stored(file, offset, location);
    } finally {
      file.release();
    }
  }

  @Test
  public void testAFileIsThereAsLongAsItHasABlockOrSomebodyHoldsIt() {
    assertNull(files.get("a"));
    CachedFile file = files.acquire("a");
    assertSame(file, files.get("a"));
    assertSame(file, files.acquire("a"));
    file.release();
    assertSame(file, files.get("a"));
    file.release();
    assertNull(files.get("a"));
    assertFalse(file.isLive());
    long location = location(3, 1);
    assertTrue(store("a", 7, location));
    assertNotSame(file, files.get("a"));
    assertSame(files.get("a"), files.byId(files.get("a").id()));
    assertEquals(0, blocks.removed("a", 7, location));
    assertNull(files.get("a"));
    assertEquals(0, files.getFileCount());
  }

  @Test
  public void testADroppedFileIsFoundByNobodyAndItsNumberIsNotGivenAway() {
    for (int i = 0; i < 10; i++) {
      store("a", i, location(2, i % 4));
    }
    CachedFile file = files.get("a");
    assertSame(file, blocks.drop("a"));
    assertNull(blocks.drop("a"));
    assertEquals(0, files.getBlockCount());
    assertEquals(0, files.getByteCount());
    assertEquals(10, files.getDroppedBlockCount());
    assertEquals(10, index.size());
    assertEquals(Location.ABSENT, blocks.find("a", 3));
    assertFalse(blocks.evict("a", 3));
    assertEquals(0, blocks.evictRange("a", 0, 100));
    assertSame(file, files.byId(file.id()));
    store("a", 3, location(1, 0));
    assertNotEquals(file.id(), files.get("a").id());
    blocks.onFreed(location -> freedBytes.addAndGet(Location.length(location)));
    assertTrue(blocks.sweep(file));
    assertEquals(10 * 2 * Location.UNIT, freedBytes.get());
    assertNull(files.byId(file.id()));
    assertEquals(1, index.size());
    assertEquals(0, files.getDroppedBlockCount());
    assertTrue(files.dropped().isEmpty());
    assertTrue(Location.isPresent(blocks.find("a", 3)));
  }

  @Test
  public void testWhoHoldsAFileThatIsDroppedCannotStoreABlockOfIt() {
    CachedFile file = files.acquire("a");
    assertNotNull(blocks.drop("a"));
    assertFalse(blocks.stored(file, 1, location(1, 0)));
    assertEquals(0, index.size());
    assertSame(file, files.byId(file.id()));
    file.release();
    assertNull(files.byId(file.id()));
    assertTrue(files.dropped().isEmpty());
  }

  @Test
  public void testANumberIsUsedAgainWhenNothingIsLeftUnderItAndNotBefore() {
    CachedFiles few = new CachedFiles(3);
    IndexedBlocks over = new IndexedBlocks(few, index);
    Set<Integer> ids = new HashSet<>();
    for (String name : new String[] { "a", "b", "c" }) {
      CachedFile file = few.acquire(name);
      ids.add(file.id());
      assertTrue(over.stored(file, 1, location(1, 0)));
      file.release();
    }
    assertEquals(3, ids.size());
    assertNull(few.acquire("d"));
    CachedFile b = over.drop("b");
    assertNull(few.acquire("d"));
    assertTrue(over.sweep(b));
    CachedFile d = few.acquire("d");
    assertEquals(b.id(), d.id());
    assertEquals(Location.ABSENT, index.get(d.id(), 1));
  }

  /** The store reclaims the last block of a dropped file before the file is swept. */
  @Test
  public void testSweepOfAFileWithoutBlocksLeavesTheOneThatHasItsNumber() {
    CachedFiles few = new CachedFiles(1);
    IndexedBlocks over = new IndexedBlocks(few, index);
    over.onFreed(location -> freedBytes.addAndGet(Location.length(location)));
    CachedFile former = few.acquire("a");
    long location = location(1, 0);
    assertTrue(over.stored(former, 1, location));
    former.release();
    assertSame(former, over.drop("a"));
    assertEquals(0, over.removed("a", 1, location));
    CachedFile next = few.acquire("b");
    assertEquals(former.id(), next.id());
    assertTrue(over.stored(next, 1, location(2, 0)));
    next.release();
    assertTrue(over.sweep(former));
    assertTrue(Location.isPresent(over.find("b", 1)));
    assertEquals(1, next.blockCount());
    assertEquals(0, few.getDroppedBlockCount());
    assertEquals(0, freedBytes.get());
    assertSame(next, few.byId(next.id()));
  }

  @Test
  public void testABlockThatIsStoredTwiceFreesItsFormerPlace() {
    blocks.onFreed(location -> freedBytes.addAndGet(Location.length(location)));
    store("a", 1, location(5, 0));
    assertTrue(files.get("a").fullyCached(1, "r", 9));
    store("a", 1, location(7, 0));
    assertEquals(5 * Location.UNIT, freedBytes.get());
    assertEquals(7 * Location.UNIT, files.getByteCount());
    assertEquals(1, files.getBlockCount());
    assertTrue(files.get("a").isFullyCached());
  }

  @Test
  public void testTheStoreForgetsABlockOnlyWhereItThinksItIs() {
    long first = location(1, 0);
    long second = location(1, 0);
    store("a", 1, first);
    assertEquals(0, blocks.accesses("a", 1, first));
    assertEquals(SegmentDirectory.NOT_HERE, blocks.accesses("a", 1, second));
    assertEquals(SegmentDirectory.NOT_HERE, blocks.removed("a", 1, second));
    assertFalse(blocks.moved("a", 1, second, first));
    assertTrue(blocks.moved("a", 1, first, second));
    assertEquals(SegmentDirectory.NOT_HERE, blocks.removed("a", 1, first));
    index.touch(files.get("a").id(), 1, second);
    assertEquals(1, blocks.removed("a", 1, second));
    assertEquals(0, index.size());
  }

  @Test
  public void testWhatDroppedFilesHaveLeftIsForgottenByTheStoreToo() {
    long former = location(1, 0);
    store("a", 1, former);
    blocks.drop("a");
    long formerAgain = location(1, 0);
    store("a", 1, formerAgain);
    blocks.drop("a");
    long now = location(1, 0);
    store("a", 1, now);
    assertEquals(3, index.size());
    assertEquals(0, blocks.removed("a", 1, former));
    assertEquals(0, blocks.removed("a", 1, formerAgain));
    assertEquals(SegmentDirectory.NOT_HERE, blocks.removed("a", 1, former));
    assertEquals(now, blocks.find("a", 1));
    assertTrue(files.dropped().isEmpty());
    assertEquals(0, files.getDroppedBlockCount());
  }

  @Test
  public void testASegmentThatCannotBeToldIsForgottenWithAllThatIsInIt() {
    for (int i = 0; i < 100; i++) {
      store("f" + i % 5, i, location(1, 0));
    }
    blocks.drop("f0");
    blocks.forgetSegments(10, 60);
    assertEquals(50, index.size());
    assertEquals(40, files.getBlockCount());
    assertEquals(10, files.getDroppedBlockCount());
    index.forEach((file, offset, location) -> assertTrue(
      Location.segment(location) < 10 || Location.segment(location) >= 60));
  }

  @Test
  public void testARecoveredBlockDoesNotReplaceANewerOne() {
    long newer = location(1, 0);
    store("a", 1, newer);
    assertFalse(blocks.recovered("a", 1, location(2, 0)));
    assertTrue(blocks.recovered("a", 2, location(2, 0)));
    assertEquals(newer, blocks.find("a", 1));
    assertEquals(2, files.getBlockCount());
    assertEquals(3 * Location.UNIT, files.getByteCount());
  }

  /** Returns the bytes of the blocks, without the overhead of their entries. */
  private static long bytes(int units, int blockCount) {
    return (long) units * Location.UNIT - blockCount * CachedFile.ENTRY_OVERHEAD;
  }

  @Test
  public void testRegionsHaveTheBytesOfTheirFiles() {
    store("a", 1, location(10, 0));
    assertTrue(files.getRegionBytes().isEmpty());
    files.get("a").setRegion("r");
    store("a", 2, location(20, 0));
    store("b", 2, location(40, 0));
    files.get("b").setRegion("r");
    assertEquals(bytes(70, 3), files.getRegionBytes().get("r").longValue());
    files.get("b").setRegion("s");
    assertEquals(bytes(30, 2), files.getRegionBytes().get("r").longValue());
    assertEquals(bytes(40, 1), files.getRegionBytes().get("s").longValue());
    blocks.drop("b");
    blocks.evict("a", 1);
    assertEquals(bytes(20, 1), files.getRegionBytes().get("r").longValue());
    assertFalse(files.getRegionBytes().containsKey("s"));
  }

  @Test
  public void testFilesComeBackFromASnapshotDroppedOnesToo() throws IOException {
    Random random = new Random(3);
    for (int i = 0; i < 500; i++) {
      store("f" + random.nextInt(20), i, location(1 + random.nextInt(9), random.nextInt(4)));
    }
    files.get("f1").setRegion("r");
    files.get("f2").fullyCached(files.get("f2").dataBlockCount(), "s", 77);
    blocks.drop("f3");
    blocks.evictRange("f4", 0, 1000);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    files.writeTo(new DataOutputStream(bytes));
    CachedFiles restored = new CachedFiles();
    restored.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertEquals(contentOf(files), contentOf(restored));
    assertEquals(files.getBlockCount(), restored.getBlockCount());
    assertEquals(files.getByteCount(), restored.getByteCount());
    assertEquals(files.getDroppedBlockCount(), restored.getDroppedBlockCount());
    assertEquals(files.getRegionBytes(), restored.getRegionBytes());
    assertEquals(files.getFullyCached(), restored.getFullyCached());
    assertEquals(1, restored.dropped().size());
    // The index is shared, so what is left of the dropped file can be swept by the restored.
    IndexedBlocks over = new IndexedBlocks(restored, index);
    assertTrue(over.sweep(restored.dropped().get(0)));
    assertEquals(restored.getBlockCount(), index.size());
    CachedFile added = restored.acquire("new");
    assertNull(files.byId(added.id()));
    restored.clear();
    assertEquals(0, restored.getBlockCount());
    assertTrue(contentOf(restored).isEmpty());
  }

  private static Map<String, String> contentOf(CachedFiles of) {
    Map<String, String> content = new TreeMap<>();
    of.live().forEach(file -> content.put(file.name(), file.id() + " " + file.getRegion() + " "
      + file.blockCount() + " " + file.byteCount() + " " + file.maxOffset()));
    return content;
  }
}
