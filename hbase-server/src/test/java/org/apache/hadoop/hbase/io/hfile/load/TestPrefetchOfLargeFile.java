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
import static org.junit.Assert.assertTrue;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open of a file above the limit, on HDFS, with blocks and chunks of their usual sizes. The
 * file has 24 MB; {@code -Dprefetch.file.mb=512} makes it larger. The figures go to the log.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestPrefetchOfLargeFile {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchOfLargeFile.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestPrefetchOfLargeFile.class);
  private static final int FILE_MB = Integer.getInteger("prefetch.file.mb", 24);
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static Configuration conf;
  private static Path path;
  private static long metaSize;
  private static int largestDataBlock;

  @BeforeClass
  public static void writeFile() throws Exception {
    conf = UTIL.getConfiguration();
    conf.set("fs.hdfs.impl", ReadLog.Hdfs.class.getName());
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    conf.set("hbase.bucketcache.ioengine", "offheap");
    conf.setInt("hbase.bucketcache.size", 2 * FILE_MB + 64);
    conf.setInt("hbase.bucketcache.writer.queuelength", 16384);
    UTIL.startMiniDFSCluster(1);
    PrefetchExecutor.loadConfiguration(conf);
    Path family = new Path(UTIL.createRootDir(), "data/default/t/r/f");
    UTIL.getTestFileSystem().mkdirs(family);
    int rows = FILE_MB * 1024;
    StoreFileWriter writer =
      new StoreFileWriter.Builder(conf, CacheConfig.DISABLED, UTIL.getTestFileSystem())
        .withOutputDir(family).withFileContext(new HFileContextBuilder().build())
        .withBloomType(BloomType.ROW).withMaxKeyCount(rows).build();
    Random random = new Random(1);
    byte[] value = new byte[1000];
    for (int i = 0; i < rows; i++) {
      random.nextBytes(value);
      writer.append(new KeyValue(row(i), FAMILY, FAMILY, 1L, value));
    }
    writer.close();
    path = writer.getPath();
    try (HFile.Reader reader =
      HFile.createReader(UTIL.getTestFileSystem(), path, CacheConfig.DISABLED, true, conf)) {
      long end = reader.getTrailer().getLoadOnOpenDataOffset();
      for (long offset = 0; offset < end;) {
        HFileBlock block = reader.readBlock(offset, -1, false, true, true, false, null, null);
        offset += block.getOnDiskSizeWithHeader();
        if (block.getBlockType().isData()) {
          largestDataBlock = Math.max(largestDataBlock, block.getOnDiskSizeWithHeader());
        } else {
          metaSize += block.getOnDiskSizeWithHeader();
        }
        block.release();
      }
    }
  }

  @AfterClass
  public static void stopHdfs() throws Exception {
    UTIL.shutdownMiniDFSCluster();
    UTIL.cleanupTestDir();
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row%010d", i));
  }

  /** Opens the file and returns the bytes read until its warm-up is over, and those of one get. */
  private long[] open(String name) throws Exception {
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    CacheConfig cacheConf = new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
    ReadLog.HDFS.clear();
    long start = System.nanoTime();
    try (HFile.Reader reader =
      HFile.createReader(UTIL.getTestFileSystem(), path, cacheConf, true, conf)) {
      Waiter.waitFor(conf, 120_000, 1, reader::prefetchComplete);
      long micros = TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
      long end = reader.getTrailer().getLoadOnOpenDataOffset();
      long warmed = ReadLog.HDFS.bytes(path.getName(), end);
      ReadLog.HDFS.clear();
      HFileScanner scanner = reader.getScanner(conf, true, true);
      assertEquals(0, scanner.seekTo(new KeyValue(row(FILE_MB * 500), FAMILY, FAMILY, 1L,
        KeyValue.Type.Put)));
      scanner.close();
      long get = ReadLog.HDFS.bytes(path.getName(), end);
      LOG.info("{}: file of {} bytes, index and bloom {}, ready after {} us, {} bytes read, {} for "
        + "a get", name, reader.length(), metaSize, micros, warmed, get);
      return new long[] { warmed, get };
    } finally {
      conf.unset(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY);
      cache.shutdown();
    }
  }

  @Test
  public void testOfALargeFileOnlyIndexAndBloomAreRead() throws Exception {
    conf.setLong("hbase.rs.prefetch.full.max.bytes", FILE_MB << 19);
    long[] read = open("above the limit");
    conf.unset("hbase.rs.prefetch.full.max.bytes");
    assertTrue(read[0] + " bytes to warm",
      read[0] >= metaSize && read[0] <= metaSize + FILE_MB * (1L << 20) / 50);
    assertTrue(read[1] + " bytes for a get", read[1] > 0 && read[1] <= largestDataBlock + 33);
  }

  @Test
  public void testWithoutALimitAllIsRead() throws Exception {
    long[] read = open("whole");
    assertTrue(read[0] + " bytes to warm", read[0] > FILE_MB * 1_000_000L);
    assertEquals(0, read[1]);
  }
}
