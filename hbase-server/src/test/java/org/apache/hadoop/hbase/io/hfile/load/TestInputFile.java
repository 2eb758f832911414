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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The blocks of files that HBase has written, found by the keys of their cells. */
@Category({ IOTests.class, MediumTests.class })
public class TestInputFile {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestInputFile.class);

  private static final RegionKeyRange ALL = new RegionKeyRange(new byte[0], new byte[0]);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  /** Has index blocks in memory, and notes which data blocks are looked up. */
  private static final class NotingCache implements HotBlockCache {
    private final Map<Long, HFileBlock> index = new HashMap<>();
    private final Set<Long> asked = new LinkedHashSet<>();
    private long hot = -1;
    private long bytes;

    @Override
    public int accesses(BlockCacheKey key) {
      asked.add(key.getOffset());
      return key.getOffset() == hot ? 3 : NOT_CACHED;
    }

    @Override
    public HFileBlock peek(BlockCacheKey key) {
      HFileBlock block = index.get(key.getOffset());
      if (block != null) {
        block.retain();
      }
      return block;
    }

    @Override
    public long cachedBytes(String hfileName) {
      return hfileName.indexOf('.') < 0 ? bytes : 0;
    }

    @Override
    public boolean hasSpareSpaceFor(int serializedLength) {
      throw new AssertionError("Nothing is inserted here");
    }

    @Override
    public boolean awaitInsertion(BlockCacheKey key, long timeoutNanos) {
      throw new AssertionError("Nothing is inserted here");
    }

    @Override
    public boolean cacheHot(BlockCacheKey key, Cacheable block, boolean inMemory, int accesses) {
      throw new AssertionError("Nothing is inserted here");
    }
  }

  /** A data block, with copies of its first and last cell. */
  private static final class Block {
    private final long offset;
    private final Cell first;
    private Cell last;

    Block(long offset, Cell first) {
      this.offset = offset;
      this.first = first;
    }
  }

  private final NotingCache cache = new NotingCache();

  private HFile.Reader open(Path path) throws IOException {
    return HFile.createReader(files.fileSystem(), path, CacheConfig.DISABLED, true, files.conf());
  }

  /** Lists blocks by HBase's own search of the index. */
  private List<Block> blocks(HFile.Reader reader) throws IOException {
    List<Block> blocks = new ArrayList<>();
    try (HFileScanner scanner = reader.getScanner(files.conf(), false, false)) {
      boolean more = scanner.seekTo();
      Block block = null;
      while (more) {
        // The scanner's cells are only valid until it moves.
        KeyValue cell = KeyValueUtil.copyToNewKeyValue(scanner.getCell());
        long offset = StoreFileFixture.dataBlockOf(reader, cell);
        if (block == null || block.offset != offset) {
          block = new Block(offset, cell);
          blocks.add(block);
        }
        block.last = cell;
        more = scanner.next();
      }
    }
    return blocks;
  }

  private void keepIndex(Path path, HFile.Reader reader) throws IOException {
    for (StoreFileFixture.Block block : files.blocks(path)) {
      switch (block.type()) {
        case LEAF_INDEX:
        case INTERMEDIATE_INDEX:
          cache.index.put(block.offset(), reader.readBlock(block.offset(), block.size(), false,
            true, false, false, block.type(), null));
          break;
        default:
          break;
      }
    }
  }

  private Set<Long> asked(InputFile file, Cell first, Cell last) {
    cache.asked.clear();
    file.accesses(first, last, true);
    return cache.asked;
  }

  private void assertBlocksAreFound(Path path, int levels) throws IOException {
    try (HFile.Reader reader = open(path)) {
      assertEquals(levels, Math.min(3, reader.getTrailer().getNumDataIndexLevels()));
      keepIndex(path, reader);
      List<Block> blocks = blocks(reader);
      assertTrue(blocks.size() > 100);
      InputFile file = new InputFile(reader, ALL, cache);
      for (Block block : blocks) {
        assertEquals(Collections.singleton(block.offset),
          asked(file, block.first, block.last));
        assertFalse(file.isUnknown());
      }
      for (int i = 0; i + 2 < blocks.size(); i += 3) {
        Set<Long> three = new LinkedHashSet<>();
        for (int j = i; j < i + 3; j++) {
          three.add(blocks.get(j).offset);
        }
        assertEquals(three, asked(file, blocks.get(i).last, blocks.get(i + 2).first));
      }
      cache.hot = blocks.get(50).offset;
      assertEquals("the block after it is hot", 0,
        file.accesses(blocks.get(49).first, blocks.get(49).last, true));
      assertEquals("the block before it is hot", 0,
        file.accesses(blocks.get(51).first, blocks.get(51).last, true));
      assertEquals(3, file.accesses(blocks.get(50).last, blocks.get(51).last, true));
      KeyValue after = new KeyValue(Bytes.toBytes("s"), Bytes.toBytes("f"), null, 1L,
        KeyValue.Type.Put);
      assertTrue("nothing is after the last cell", asked(file, after, after).isEmpty());
      cache.index.values().forEach(HFileBlock::release);
      cache.index.clear();
      InputFile cold = new InputFile(reader, ALL, cache);
      assertEquals("of a root alone, all is known", levels == 1 ? 1 : 0,
        asked(cold, blocks.get(60).first, blocks.get(60).last).size());
      assertEquals(levels > 1, cold.isUnknown());
    }
  }

  @Test
  public void testBlocksOfARangeAreFoundBelowAnyNumberOfLevels() throws IOException {
    int[] indexBytes = { 1 << 20, 8192, 512 };
    for (int i = 0; i < indexBytes.length; i++) {
      files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, indexBytes[i]);
      assertBlocksAreFound(files.write(CacheConfig.DISABLED), i + 1);
    }
  }

  private HotBlockMap hotBlocksOf(HFile.Reader loaded, List<HFile.Reader> others)
    throws IOException {
    return HotBlockHandover.hotBlocksOf(loaded, ALL, cache, others);
  }

  /** Checks a file with the same rows and another index: a block is hot if its counterpart is. */
  private void assertTakenOver(int indexBytes) throws IOException {
    cache.hot = -1;
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1 << 20);
    Path path = files.write(CacheConfig.DISABLED);
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, indexBytes);
    Path loadedPath = files.write(CacheConfig.DISABLED);
    try (HFile.Reader before = open(path); HFile.Reader loaded = open(loadedPath)) {
      List<Block> blocks = blocks(before);
      List<Block> counterparts = blocks(loaded);
      assertEquals(blocks.size(), counterparts.size());
      List<HFile.Reader> others = Collections.singletonList(before);
      assertEquals("nothing is hot", 0, hotBlocksOf(loaded, others).count());
      for (int i : new int[] { 0, 1, 50, blocks.size() - 1 }) {
        cache.hot = blocks.get(i).offset;
        assertEquals("without others", 0,
          hotBlocksOf(loaded, Collections.emptyList()).count());
        HotBlockMap hot = hotBlocksOf(loaded, others);
        assertEquals("only block " + i, 1, hot.count());
        assertTrue("block " + i, hot.isHot(counterparts.get(i).offset));
      }
    }
  }

  @Test
  public void testLoadedFileTakesOverWhatIsHot() throws IOException {
    assertTakenOver(1 << 20);
    assertTakenOver(512);
  }

  @Test
  public void testEncodedBlocks() throws IOException {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 8192);
    assertBlocksAreFound(files.write(CacheConfig.DISABLED, new HFileContextBuilder()
      .withBlockSize(1024).withDataBlockEncoding(DataBlockEncoding.FAST_DIFF).build()), 2);
  }

  private static Set<Long> offsets(List<Block> blocks) {
    Set<Long> offsets = new LinkedHashSet<>();
    blocks.forEach(block -> offsets.add(block.offset));
    return offsets;
  }

  private Set<Long> asked(HFile.Reader reader, byte[] startRow, byte[] endRow) {
    cache.asked.clear();
    new InputFile(reader, new RegionKeyRange(startRow, endRow), cache).hotBlocks(12);
    return cache.asked;
  }

  /** A reference of a split's daughter has only the blocks with the daughter's rows. */
  @Test
  public void testReference() throws IOException {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 512);
    Path path = files.write(CacheConfig.DISABLED);
    Path reference =
      new Path(path.getParent(), String.format("%032x.%032x", 1, 2));
    assertTrue(files.fileSystem().rename(path, reference));
    try (HFile.Reader reader = open(reference)) {
      keepIndex(reference, reader);
      List<Block> blocks = blocks(reader);
      int last = blocks.size() - 1;
      byte[] none = new byte[0];
      byte[] start = CellUtil.cloneRow(blocks.get(20).last);
      byte[] end = CellUtil.cloneRow(blocks.get(60).last);
      assertEquals(offsets(blocks.subList(20, 61)), asked(reader, start, end));
      assertEquals(offsets(blocks.subList(20, last + 1)), asked(reader, start, none));
      assertEquals(offsets(blocks.subList(0, 61)), asked(reader, none, end));
      assertEquals(offsets(blocks), asked(reader, none, none));
      assertEquals("before the file", Collections.emptySet(),
        asked(reader, none, Bytes.toBytes(0)));
      assertEquals("after the file", Collections.emptySet(),
        asked(reader, Bytes.toBytes("s"), none));
      InputFile file = new InputFile(reader, new RegionKeyRange(start, end), cache);
      assertEquals(reader.length() * 41 / blocks.size(), file.length(), 1);
      List<Long> all = new ArrayList<>();
      file.forEachBlock(all::add);
      assertEquals(41, all.size());
      cache.bytes = 1000;
      cache.hot = blocks.get(10).offset;
      assertEquals("only a block of the other daughter is cached", 0, file.cachedBytes());
      cache.hot = blocks.get(30).offset;
      assertEquals(1000, file.cachedBytes());
      cache.index.values().forEach(HFileBlock::release);
      cache.index.clear();
    }
  }
}
