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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.crypto.Cipher;
import org.apache.hadoop.hbase.io.crypto.Encryption;
import org.apache.hadoop.hbase.io.crypto.KeyProviderForTesting;
import org.apache.hadoop.hbase.io.crypto.aes.AES;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.BloomFilterWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.BytesWritable;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The positions known without reading a block are those that a walk from the beginning of the file
 * to its end finds, all of them, whatever the file is made of.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestBlockPositions {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockPositions.class);

  private static final int BLOCK_SIZE = 1024;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final Map<BlockType, Integer> found = new EnumMap<>(BlockType.class);
  private int levels;

  private static HFileContextBuilder context() {
    return new HFileContextBuilder().withBlockSize(BLOCK_SIZE);
  }

  /** Returns sizes by offset, as the index and bloom metadata have them. */
  private Map<Long, Integer> positions(HFile.Reader reader) throws IOException {
    BlockPositions positions = BlockPositions.of(reader);
    levels = positions.indexLevels();
    Map<Long, Integer> all = new TreeMap<>();
    put(all, positions.generalBloom());
    put(all, positions.deleteFamilyBloom());
    put(all, positions.meta());
    descend(reader, positions.root(), levels - 1, all);
    return all;
  }

  private void descend(HFile.Reader reader, BlockPositions.Blocks blocks, int below,
    Map<Long, Integer> all) throws IOException {
    put(all, blocks);
    for (int i = 0; i < blocks.count() && below > 0; i++) {
      HFileBlock block = reader.readBlock(blocks.offset(i), blocks.size(i), false, true, false,
        false, below == 1 ? BlockType.LEAF_INDEX : BlockType.INTERMEDIATE_INDEX, null);
      descend(reader, BlockPositions.below(block), below - 1, all);
      block.release();
    }
  }

  private static void put(Map<Long, Integer> all, BlockPositions.Blocks blocks) {
    for (int i = 0; i < blocks.count(); i++) {
      assertEquals(null, all.put(blocks.offset(i), blocks.size(i)));
    }
  }

  private void assertAllFound(Path path) throws IOException {
    Map<Long, Integer> walked = new TreeMap<>();
    for (StoreFileFixture.Block block : files.blocks(path)) {
      walked.put(block.offset(), block.size());
      found.merge(block.type(), 1, Integer::sum);
    }
    try (HFile.Reader reader =
      HFile.createReader(files.fileSystem(), path, CacheConfig.DISABLED, true, files.conf())) {
      Map<Long, Integer> positions = positions(reader);
      assertEquals(walked, positions);
      assertEquals(BlockPositions.of(reader).end(),
        positions.values().stream().mapToLong(Integer::longValue).sum());
    }
  }

  private void assertFound(BlockType type) {
    assertTrue("no " + type + " in " + found, found.getOrDefault(type, 0) > 0);
  }

  @Test
  public void testIndexOfManyLevels() throws Exception {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 512);
    assertAllFound(files.write(CacheConfig.DISABLED, context().build()));
    assertTrue(levels + " levels", levels > 2);
    assertFound(BlockType.DATA);
    assertFound(BlockType.LEAF_INDEX);
    assertFound(BlockType.INTERMEDIATE_INDEX);
    assertFound(BlockType.BLOOM_CHUNK);
  }

  @Test
  public void testIndexOfTwoLevels() throws Exception {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 8192);
    assertAllFound(files.write(CacheConfig.DISABLED, context().build()));
    assertEquals(2, levels);
  }

  @Test
  public void testIndexOfARootAlone() throws Exception {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1 << 20);
    assertAllFound(files.write(CacheConfig.DISABLED, context().build()));
    assertEquals(1, levels);
    assertFound(BlockType.BLOOM_CHUNK);
  }

  @Test
  public void testEncodedAndCompressed() throws Exception {
    assertAllFound(files.write(CacheConfig.DISABLED,
      context().withDataBlockEncoding(DataBlockEncoding.FAST_DIFF)
        .withCompression(Compression.Algorithm.GZ).build()));
    assertFound(BlockType.ENCODED_DATA);
    assertFound(BlockType.LEAF_INDEX);
  }

  @Test
  public void testEncrypted() throws Exception {
    Configuration conf = files.conf();
    conf.set(HConstants.CRYPTO_KEYPROVIDER_CONF_KEY, KeyProviderForTesting.class.getName());
    conf.set(HConstants.CRYPTO_MASTERKEY_NAME_CONF_KEY, "hbase");
    Cipher aes = Encryption.getCipher(conf, "AES");
    byte[] key = new byte[AES.KEY_LENGTH];
    Bytes.secureRandom(key);
    Encryption.Context encryption = Encryption.newContext(conf).setCipher(aes).setKey(key);
    assertAllFound(
      files.write(CacheConfig.DISABLED, context().withEncryptionContext(encryption).build()));
    assertFound(BlockType.LEAF_INDEX);
  }

  @Test
  public void testRowColumnBloomHasKeysOfCells() throws Exception {
    assertAllFound(writeHFile(BloomType.ROWCOL, HFileReaderImpl.MAX_MINOR_VERSION));
    assertFound(BlockType.BLOOM_CHUNK);
  }

  @Test
  public void testOlderMinorVersions() throws Exception {
    files.conf().setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 512);
    for (int minor = 0; minor < HFileReaderImpl.MAX_MINOR_VERSION; minor++) {
      found.clear();
      assertAllFound(writeHFile(BloomType.ROW, minor));
      assertFound(BlockType.BLOOM_CHUNK);
      assertFound(BlockType.INTERMEDIATE_INDEX);
    }
  }

  @Test
  public void testMetaBlocksAreFoundAndAnEmptyFileHasNone() throws Exception {
    assertAllFound(writeHFile(BloomType.NONE, HFileReaderImpl.MAX_MINOR_VERSION));
    assertFound(BlockType.META);
    Path empty = files.newFile();
    new HFileWriterImpl(files.conf(), CacheConfig.DISABLED, empty,
      files.fileSystem().create(empty), context().build()).close();
    try (HFile.Reader reader =
      HFile.createReader(files.fileSystem(), empty, CacheConfig.DISABLED, true, files.conf())) {
      assertTrue(positions(reader).isEmpty());
    }
  }

  /** Writes what a version of the format before the present one, or a store, would. */
  private Path writeHFile(BloomType bloomType, int minorVersion) throws IOException {
    Path path = files.newFile();
    HFileWriterImpl writer = new HFileWriterImpl(files.conf(), CacheConfig.DISABLED, path,
      files.fileSystem().create(path), context().build()) {
      @Override
      protected int getMinorVersion() {
        return minorVersion;
      }
    };
    int rows = 4000;
    BloomFilterWriter bloom = bloomType == BloomType.NONE
      ? null
      : BloomFilterFactory.createGeneralBloomAtWrite(files.conf(), CacheConfig.DISABLED, bloomType,
        rows, writer);
    for (int i = 0; i < rows; i++) {
      KeyValue cell = new KeyValue(Bytes.toBytes(String.format("row%08d", i)), Bytes.toBytes("f"),
        Bytes.toBytes("q"), 1L, new byte[100]);
      writer.append(cell);
      if (bloom != null) {
        bloom.append(cell);
      }
    }
    writer.appendMetaBlock("meta", new BytesWritable(new byte[500]));
    if (bloom != null) {
      bloom.compactBloom();
      writer.addGeneralBloomFilter(bloom);
    }
    writer.close();
    return path;
  }
}
