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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.ArgumentMatchers;

/** What a hint has of files that HBase has written, and what is made of one that is damaged. */
@Category({ IOTests.class, MediumTests.class })
public class TestHotBlockHint {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHotBlockHint.class);

  private static final int GB = 1 << 30;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private static HFile.Reader file(String name, long length) {
    HFile.Reader reader = mock(HFile.Reader.class);
    when(reader.getName()).thenReturn(name);
    when(reader.length()).thenReturn(length);
    return reader;
  }

  private static List<HFile.Reader> files(int count, long length) {
    List<HFile.Reader> readers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      readers.add(file(String.format("%032x", i), length));
    }
    return readers;
  }

  private static HotBlockHint hint() throws IOException {
    HotBlockHint hint = new HotBlockHint(7);
    return HotBlockHint.parse(hint.toBytes());
  }

  @Test
  public void testHasTheBlocksThatWereAccessed() throws Exception {
    // The index has one level, as index blocks are looked up in the cache.
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1 << 20);
    try (HFile.Reader reader = HFile.createReader(files.fileSystem(),
      files.write(CacheConfig.DISABLED), CacheConfig.DISABLED, true, files.conf())) {
      HotBlockCache cache = mock(HotBlockCache.class);
      TreeSet<Long> asked = new TreeSet<>();
      when(cache.accesses(ArgumentMatchers.any())).thenAnswer(call -> {
        long offset = call.<BlockCacheKey> getArgument(0).getOffset();
        asked.add(offset);
        return (int) (offset % 3) - 1;
      });
      HotBlockHint written = new HotBlockHint(42);
      List<HFile.Reader> readers = Collections.singletonList(reader);
      assertEquals(12, HotBlockHint.shiftFor(readers));
      written.add(readers, new RegionKeyRange(new byte[0], new byte[0]), cache, 0);
      HotBlockHint hint = HotBlockHint.parse(written.toBytes());
      assertEquals(42, hint.sequenceId());
      assertTrue("" + asked, asked.size() > 5);
      for (long offset : asked) {
        assertEquals("at " + offset, offset % 3 == 2, hint.of(reader.getName()).isHot(offset));
      }
      assertNull(hint.of("another"));
    }
  }

  @Test
  public void testNothingHotIsEmpty() throws Exception {
    assertTrue(hint().isEmpty());
    assertEquals(7, hint().sequenceId());
  }

  /** A block has a bit of its own as long as blocks of the usual 64 KB do. */
  @Test
  public void testIsSmallForAnyRegion() throws Exception {
    assertEquals(12, HotBlockHint.shiftFor(files(1, 1)));
    assertEquals(12, HotBlockHint.shiftFor(files(1, GB)));
    assertEquals(16, HotBlockHint.shiftFor(files(3, 10L * GB)));
    for (int count : new int[] { 1, 3, 100, 900 }) {
      List<HFile.Reader> readers = files(count, 10L * GB);
      int shift = HotBlockHint.shiftFor(readers);
      long bytes = 24;
      for (HFile.Reader reader : readers) {
        bytes += 2 + reader.getName().length() + 1 + 4 + (reader.length() >>> shift) / 8 + 1;
      }
      assertTrue(count + " files, " + bytes, bytes <= HotBlockHint.MAX_BYTES);
    }
    assertEquals(-1, HotBlockHint.shiftFor(files(5000, 1)));
  }

  @Test
  public void testANeighbourInTheSameCellIsHotToo() {
    HotBlockMap map = new HotBlockMap(12);
    map.add(8192);
    assertTrue(map.isHot(8192));
    assertTrue(map.isHot(12287));
    assertFalse(map.isHot(12288));
    assertFalse(map.isHot(8191));
    assertFalse(map.isHot(1L << 60));
    assertEquals(1, map.count());
  }

  @Test
  public void testADamagedHintIsRefused() throws Exception {
    byte[] whole = hint().toBytes();
    for (int length = 0; length < whole.length; length++) {
      byte[] part = Arrays.copyOf(whole, length);
      assertThrows("" + length, IOException.class, () -> HotBlockHint.parse(part));
    }
    for (int i = 0; i < whole.length; i++) {
      byte[] damaged = whole.clone();
      damaged[i] ^= 4;
      assertThrows("" + i, IOException.class, () -> HotBlockHint.parse(damaged));
    }
    assertThrows(IOException.class, () -> HotBlockHint.parse(Arrays.copyOf(whole, 100_000)));
  }
}
