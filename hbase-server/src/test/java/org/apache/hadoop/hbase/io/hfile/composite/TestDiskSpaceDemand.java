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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

@Category({ IOTests.class, SmallTests.class })
public class TestDiskSpaceDemand {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDiskSpaceDemand.class);

  private static final String ENGINE = "hbase.bucketcache.l2.ioengine";
  private static final String SIZE = "hbase.bucketcache.l2.size";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final Configuration conf = HBaseConfiguration.create();
  private File file;
  private long totalMb;
  private long freeMb;

  @Before
  public void setUp() {
    file = new File(folder.getRoot(), "l2");
    totalMb = folder.getRoot().getTotalSpace() >> 20;
    freeMb = folder.getRoot().getUsableSpace() >> 20;
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set(ENGINE, "file:" + file);
    // The heap for the map is not to be the limit.
    conf.setInt("hbase.blockcache.minblocksize", 1 << 30);
  }

  @Test
  public void testBucketCacheLargerThanItsFileSystemIsRefused() {
    for (String engine : new String[] { "file:", "mmap:", "pmem:" }) {
      conf.set(ENGINE, engine + file);
      assertRefused(totalMb + 100, totalMb + 100);
    }
    conf.set(ENGINE, "files:" + file + "," + file + "b");
    assertRefused(totalMb + 100, totalMb + 100);
    assertFalse("left behind", file.exists());
  }

  @Test
  public void testTiersOnOneFileSystemAreAdded() {
    conf.set("hbase.bucketcache.l1.ioengine", "mmap:" + folder.getRoot() + "/l1");
    conf.setLong("hbase.bucketcache.l1.size", totalMb / 2 + 100);
    assertRefused(totalMb / 2 + 100, 2 * (totalMb / 2 + 100));
  }

  private void assertRefused(long sizeMb, long wantedMb) {
    conf.setLong(SIZE, sizeMb);
    String message = assertThrows(IllegalArgumentException.class,
      () -> BlockCacheFactory.createBlockCache(conf)).getMessage();
    assertEquals(SIZE + " is " + sizeMb + "; must be within the " + totalMb
      + " MB of the file system of " + folder.getRoot() + ", where the tiers take " + wantedMb
      + " MB. Lower it, or set a path on a larger file system.", message);
  }

  @Test
  public void testMoreThanTheFreeSpaceIsAWarning() throws IOException {
    conf.set(SIZE, "40");
    assertEquals(0, CompositeBucketCacheSettings.warnings(conf).size());
    // The free space changes while other processes write.
    long size = (freeMb + totalMb) / 2;
    conf.setLong(SIZE, size);
    List<String> warnings = CompositeBucketCacheSettings.warnings(conf);
    assertEquals(warnings.toString(), 1, warnings.size());
    String start = SIZE + " is " + size + "; the tiers take " + size + " MB in "
      + folder.getRoot() + ", whose file system has ";
    assertTrue(warnings.get(0), warnings.get(0).startsWith(start));
    assertTrue(warnings.get(0), warnings.get(0).endsWith(" of " + totalMb
      + " MB free. Lower it, or set a path on a larger file system."));
  }
}
