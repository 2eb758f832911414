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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Faults of real file systems: one on a loop device fills up, loses what is behind it, and is
 * mounted away and replaced. Skipped where this may not mount one, as without being root.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestSegmentFileSystemFaults {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentFileSystemFaults.class);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private static final int BLOCK = 30_000;
  private static final long MB = 1 << 20;
  private static final int DEVICE_MB = 33;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private File folder;
  private File image;
  private File mount;
  private String loop;
  private SegmentCache cache;
  private int next;

  @Before
  public void setUp() throws Exception {
    folder = new File(util.getDataTestDir("faults").toString());
    image = new File(folder, "image");
    mount = new File(folder, "mount");
    assertTrue(mount.mkdirs());
    assumeTrue("needs a file system on a loop device", make(image, 64) && attach(image)
      && run("mount", loop, mount.getPath()));
  }

  @After
  public void tearDown() throws Exception {
    if (cache != null) {
      cache.shutdown();
    }
    run("umount", "-l", mount.getPath());
    if (loop != null) {
      run("losetup", "-d", loop);
    }
    util.cleanupTestDir();
  }

  private static boolean make(File file, int megabytes) throws Exception {
    try (RandomAccessFile made = new RandomAccessFile(file, "rw")) {
      made.setLength(megabytes * MB);
    }
    return run("mkfs.ext2", "-q", "-m", "0", file.getPath());
  }

  private boolean attach(File file) throws Exception {
    File told = new File(folder, "loop");
    Process process = new ProcessBuilder("losetup", "--find", "--show", file.getPath())
      .redirectOutput(told).redirectError(new File(folder, "errors")).start();
    if (process.waitFor() != 0) {
      return false;
    }
    loop = new String(Files.readAllBytes(told.toPath()), "UTF-8").trim();
    return true;
  }

  /** Returns whether a command could be run and has succeeded. */
  private static boolean run(String... command) throws InterruptedException {
    try {
      return new ProcessBuilder(command).inheritIO().start().waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private void open(String... paths) throws IOException {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    conf.setInt(SegmentCacheSettings.SYNC_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + String.join(",", paths);
    cache = new SegmentCache("L2", engine, SegmentCacheSettings.of(engine,
      "hbase.bucketcache.l2.size", paths.length * DEVICE_MB * MB,
      new File(folder, "snapshot").getPath(), conf), conf);
  }

  private String onMount() {
    return new File(mount, "segments").getPath();
  }

  private static BlockCacheKey key(int number) {
    return new BlockCacheKey(new Path("/hbase/data/default/t/r/f/file"), (long) number * BLOCK,
      true, BlockType.DATA);
  }

  /** Inserts the next blocks, and waits until they are on the devices. */
  private void insert(int count) {
    for (int i = 0; i < count; i++) {
      int number = next++;
      HFileBlock inserted = block(BlockType.DATA, (long) number * BLOCK, BLOCK);
      CachedBlockFixture.await(() -> {
        cache.cacheBlock(key(number), inserted);
        return cache.containsBlock(key(number));
      });
      inserted.release();
    }
    CachedBlockFixture.await(() -> cache.pending() == 0);
  }

  /** Returns how many of all blocks are there; what is there has to be right. */
  private int found() {
    int found = 0;
    for (int number = 0; number < next; number++) {
      Cacheable read = cache.getBlock(key(number), true, false, true);
      if (read != null) {
        HFileBlock expected = block(BlockType.DATA, (long) number * BLOCK, BLOCK);
        assertArrayEquals(content(expected), content(read));
        expected.release();
        read.release();
        found++;
      }
    }
    return found;
  }

  private long gauge(String name) {
    long[] value = { -1 };
    cache.forEachMetric((kind, gauge, supplier) -> value[0] =
      gauge.equals(name) ? supplier.getAsLong() : value[0]);
    return value[0];
  }

  private static void forgetPages() throws IOException, InterruptedException {
    assertTrue(run("sync"));
    Files.write(new File("/proc/sys/vm/drop_caches").toPath(), new byte[] { '1' },
      StandardOpenOption.WRITE);
  }

  /** The file of the tier is sparse, and others take the space before the tier does. */
  @Test
  public void testFileSystemFillsUp() throws Exception {
    open(onMount());
    insert(100);
    try (FileChannel filler = FileChannel.open(new File(mount, "filler").toPath(),
      StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      ByteBuffer zeroes = ByteBuffer.allocate((int) MB);
      try {
        while (mount.getUsableSpace() > 9 * MB) {
          zeroes.clear();
          filler.write(zeroes);
        }
      } catch (IOException e) {
        // It is full.
      }
    }
    // There is space for less than a third of them.
    insert(2000);
    assertEquals(0, gauge("BypassedDeviceCount"));
    assertEquals(0, gauge("ReadOnlyDeviceCount"));
    assertEquals(0, gauge("LostSegmentCount"));
    assertTrue(gauge("UnwrittenSegmentCount") > 0);
    assertTrue(found() > 100);
  }

  /**
   * What is behind a file system is gone, and it is no more at its place; then another one is; then
   * it is back.
   */
  @Test
  public void testMountIsTakenAwayAndReplaced() throws Exception {
    File other = new File(folder, "other");
    assertTrue(make(other, 64));
    File stays = new File(folder, "stays");
    open(stays.getPath(), onMount());
    insert(1000);
    assertEquals(1000, found());
    forgetPages();
    File saved = new File(folder, "saved");
    assertTrue(run("cp", image.getPath(), saved.getPath()));
    assertTrue(run("umount", "-l", mount.getPath()));
    try (RandomAccessFile behind = new RandomAccessFile(image, "rw")) {
      behind.setLength(0);
    }
    forgetPages();
    // Blocks of pages that the kernel still has are found until the device has been forgotten.
    CachedBlockFixture.await(() -> {
      int found = found();
      return gauge("BypassedDeviceCount") == 1 && found == found();
    });
    // How many segments each device has got depends on which of them was faster.
    int left = found();
    assertTrue(left + " blocks are left", left > 0 && left < 1000);
    // It is probed some times.
    TimeUnit.SECONDS.sleep(2);
    assertEquals(1, gauge("BypassedDeviceCount"));
    assertFalse("made on what is underneath", new File(onMount()).exists());
    assertTrue(run("mount", "-o", "loop", other.getPath(), mount.getPath()));
    TimeUnit.SECONDS.sleep(4);
    assertEquals(1, gauge("BypassedDeviceCount"));
    assertFalse("made on another file system", new File(onMount()).exists());
    assertTrue(run("umount", mount.getPath()));
    // The image is overwritten in place, since the loop device has the file open.
    assertTrue(run("cp", saved.getPath(), image.getPath()));
    assertTrue(run("mount", loop, mount.getPath()));
    CachedBlockFixture.await(() -> gauge("BypassedDeviceCount") == 0);
    assertEquals(left, found());
    insert(500);
    assertTrue(found() > left);
  }
}
