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

import static org.junit.Assert.assertEquals;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import java.io.IOException;
import java.util.Collections;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.regionserver.OnlineRegionFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Data tiering decides which files and blocks the segment tier inserts. */
@Category({ IOTests.class, SmallTests.class })
public class TestSegmentCacheDataTiering {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCacheDataTiering.class);

  private static final long HOT = 10;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final Configuration conf = HBaseConfiguration.create();
  private SegmentCache cache;

  private void open(OnlineFiles online) throws IOException {
    conf.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + new File(folder.getRoot(), "l2");
    SegmentCacheSettings settings =
      SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size", 9 << 20, null, conf);
    cache = new SegmentCache("L2", engine, settings, conf, online);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private static HFileInfo file(String name) {
    HFileInfo file = mock(HFileInfo.class, RETURNS_DEEP_STUBS);
    when(file.getHFileContext().getHFileName()).thenReturn(name);
    return file;
  }

  private void assertCaches(boolean file, boolean block) {
    assertEquals(Optional.of(file), cache.shouldCacheFile(file("f"), conf));
    assertEquals(Optional.of(block),
      cache.shouldCacheBlock(new BlockCacheKey("f", 0), HOT, conf));
  }

  @Test
  public void testFilesAndBlocksThatAreNotHot() throws Exception {
    OnlineFiles online = mock(OnlineFiles.class);
    open(online);
    assertCaches(false, false);
    when(online.isHot(HOT, conf)).thenReturn(true);
    assertCaches(false, true);
  }

  @Test
  public void testWithoutDataTieringAllFilesAreHot() throws Exception {
    open(new OnlineRegionFiles(Collections.emptyMap()));
    assertCaches(true, true);
  }

  @Test
  public void testWithoutAServerAllFilesAreHot() throws Exception {
    open(null);
    assertCaches(true, true);
  }
}
