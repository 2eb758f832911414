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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.util.Progressable;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Tests that a store file whose blocks are cached while it is written leaves nothing in the pool,
 * the cache or a counter of references when the file system fails, wherever it does.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestFailingFileWrites {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailingFileWrites.class);

  private static final int ROWS = 1000;
  private static final byte[] FAMILY = Bytes.toBytes("f");

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final int blockSize;
  private final boolean sizeClasses;
  private Configuration conf;
  private ByteBuffAllocator pool;
  private BucketCache cache;

  public TestFailingFileWrites(int blockSize, boolean sizeClasses) {
    this.blockSize = blockSize;
    this.sizeClasses = sizeClasses;
  }

  @Parameterized.Parameters(name = "blocks of {0}, size classes {1}")
  public static List<Object[]> parameters() {
    List<Object[]> parameters = new ArrayList<>();
    for (int blockSize : new int[] { 4096, 20 * 1024 }) {
      for (boolean sizeClasses : new boolean[] { true, false }) {
        parameters.add(new Object[] { blockSize, sizeClasses });
      }
    }
    return parameters;
  }

  @Before
  public void open() throws IOException {
    files.cacheAllOnWrite();
    conf = files.conf();
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, sizeClasses);
    pool = ByteBuffAllocator.create(conf, true);
    cache = new BucketCache("offheap", 16 << 20, blockSize, new int[] { 8192, 32 * 1024 }, 2, 1024,
      null, 60000, conf);
  }

  @After
  public void close() {
    cache.shutdown();
    pool.clean();
  }

  /** A local file system, of whose files only so many bytes can be written. */
  private static final class FullDisk extends FilterFileSystem {
    private final long room;

    FullDisk(FileSystem fs, long room) {
      super(fs);
      this.room = room;
    }

    @Override
    public FSDataOutputStream create(Path path, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
      OutputStream file = fs.create(path, permission, overwrite, bufferSize, replication,
        blockSize, progress);
      return new FSDataOutputStream(new FilterOutputStream(file) {
        private long left = room;

        @Override
        public void write(int value) throws IOException {
          write(new byte[] { (byte) value }, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          if (left < length) {
            throw new IOException("No space left on device");
          }
          left -= length;
          out.write(bytes, offset, length);
        }
      }, null);
    }
  }

  /** Returns the length of the file. */
  private long write(Path path, FileSystem fs) throws IOException {
    StoreFileWriter writer =
      new StoreFileWriter.Builder(conf, new CacheConfig(conf, null, cache, pool), fs)
        .withFilePath(path)
        .withFileContext(new HFileContextBuilder().withBlockSize(blockSize).build())
        .withBloomType(BloomType.ROW).withMaxKeyCount(ROWS).build();
    try {
      Random random = new Random(17);
      byte[] value = new byte[100];
      for (int i = 0; i < ROWS; i++) {
        random.nextBytes(value);
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%08d", i)), FAMILY,
          Bytes.toBytes("q"), 1L, KeyValue.Type.Put, value));
      }
    } catch (IOException e) {
      try {
        writer.close();
      } catch (IOException again) {
        e.addSuppressed(again);
      }
      throw e;
    }
    writer.close();
    return files.fileSystem().getFileStatus(path).getLen();
  }

  /** Waits for the cache's writers, takes the file's blocks away and looks what is left. */
  private void assertNothingIsLeft(Path path) {
    CachedBlockFixture.await(() -> cache.ramCache.isEmpty());
    cache.evictBlocksByHfileName(path.getName());
    CachedBlockFixture.await(() -> cache.backingMap.isEmpty());
    assertEquals(0, cache.getBlockCount());
    assertEquals(0, cache.getCurrentSize());
    int divided = sizeClasses ? 4 : 0;
    int out = pool.getUsedBufferCount() - pool.getFreeBufferCount();
    assertTrue(out + " buffers are not back", out >= 0 && out <= divided);
  }

  @Test
  public void testDiskThatIsFullInEachPartOfTheFile() throws IOException {
    Path whole = files.newFile();
    long length = write(whole, files.fileSystem());
    assertTrue("nothing was cached", cache.getBlockCount() > 0 || !cache.ramCache.isEmpty());
    assertNothingIsLeft(whole);
    for (int part = 0; part < 20; part++) {
      Path path = files.newFile();
      FullDisk disk = new FullDisk(files.fileSystem(), length * part / 20);
      assertThrows(IOException.class, () -> write(path, disk));
      assertNothingIsLeft(path);
    }
    Path path = files.newFile();
    FullDisk disk = new FullDisk(files.fileSystem(), length - 1);
    assertThrows(IOException.class, () -> write(path, disk));
    assertNothingIsLeft(path);
    write(whole, files.fileSystem());
    assertNothingIsLeft(whole);
  }
}
