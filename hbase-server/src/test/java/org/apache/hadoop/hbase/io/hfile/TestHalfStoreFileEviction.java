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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * What the half of a split file leaves in the cache when it is closed with eviction, as after the
 * compaction of a daughter region: nothing. Its blocks would not be read again.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestHalfStoreFileEviction {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHalfStoreFileEviction.class);

  private static final byte[] MIDDLE = Bytes.toBytes("row00001000");
  private static final byte[] BEFORE_THE_FIRST = Bytes.toBytes("a");

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  /** Whether a prefetch could still insert blocks of the half when these were evicted. */
  private final List<Boolean> prefetching = Collections.synchronizedList(new ArrayList<>());
  private Path whole;
  private Path half;
  private BucketCache cache;

  @Before
  public void setUp() throws Exception {
    cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      public int evictBlocksByHfileName(String hfileName) {
        if (hfileName.equals(half.getName())) {
          prefetching.add(!PrefetchExecutor.isCompleted(half));
        }
        return super.evictBlocksByHfileName(hfileName);
      }
    };
    whole = files.write(CacheConfig.DISABLED);
    Path region = whole.getParent().getParent();
    half = new Path(new Path(new Path(region.getParent(), "daughter"), "f"),
      whole.getName() + "." + region.getName());
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private HStoreFile open(Reference reference) throws Exception {
    reference.write(files.fileSystem(), half);
    HStoreFile file = new HStoreFile(
      new StoreFileInfo(files.conf(), files.fileSystem(), 0, half, 0, reference, null, true),
      BloomType.NONE, new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    file.initReader();
    return file;
  }

  private void readAll(HStoreFile file) throws Exception {
    try (StoreFileScanner scanner = file.getPreadScanner(true, Long.MAX_VALUE, 0, false)) {
      int cells = 0;
      scanner.seek(KeyValue.LOWESTKEY);
      while (scanner.next() != null) {
        cells++;
      }
      assertTrue("cells", cells > 0);
    }
    CachedBlockFixture.await(() -> cache.heapSize() == 0);
  }

  private boolean isCached() {
    for (CachedBlock block : cache) {
      if (Arrays.asList(half.getName(), whole.getName()).contains(block.getFilename())) {
        return true;
      }
    }
    return false;
  }

  private void assertNothingLeft(HStoreFile file) throws Exception {
    assertTrue("cached while it was open", isCached());
    file.closeStoreFile(true);
    assertFalse("cached still", isCached());
    assertEquals("in use by somebody still", 0, cache.getAllocator().getUsedSize());
  }

  @Test
  public void testTopHalfLeavesNothing() throws Exception {
    HStoreFile file = open(Reference.createTopReference(MIDDLE));
    readAll(file);
    assertNothingLeft(file);
  }

  @Test
  public void testBottomHalfLeavesNothing() throws Exception {
    HStoreFile file = open(Reference.createBottomReference(MIDDLE));
    readAll(file);
    assertNothingLeft(file);
  }

  /** A split makes such a half of each file whose rows are all in the upper daughter. */
  @Test
  public void testTopHalfThatIsTheWholeFileLeavesNothing() throws Exception {
    HStoreFile file = open(Reference.createTopReference(BEFORE_THE_FIRST));
    readAll(file);
    assertNothingLeft(file);
  }

  @Test
  public void testPrefetchIsCancelledBeforeBlocksAreEvicted() throws Exception {
    files.conf().setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    files.conf().setLong(PrefetchExecutor.PREFETCH_DELAY, TimeUnit.HOURS.toMillis(1));
    PrefetchExecutor.loadConfiguration(files.conf());
    HStoreFile file = open(Reference.createTopReference(MIDDLE));
    assertFalse("waits for its time", PrefetchExecutor.isCompleted(half));
    file.closeStoreFile(true);
    assertEquals(Collections.singletonList(false), prefetching);
  }
}
