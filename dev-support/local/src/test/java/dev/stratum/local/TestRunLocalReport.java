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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** What the program prints, without servers. */
public class TestRunLocalReport {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testColumnsAreAsWideAsTheirWidestCellAndFiguresEndTogether() {
    assertEquals(String.format("  tier       hits%n  L1            7%n  L2 file  12,345%n"),
      RunLocal.table(
        List.of(List.of("tier", "hits"), List.of("L1", "7"), List.of("L2 file", "12,345"))));
  }

  @Test
  public void testRatioIsRoundedDownSoThatOneMissIsNeverHidden() {
    assertEquals("-", CacheTiers.ratio(0, 0));
    assertEquals("99.99 %", CacheTiers.ratio(999_999, 1));
    assertEquals("100.00 %", CacheTiers.ratio(999_999, 0));
    assertEquals("0.00 %", CacheTiers.ratio(0, 5));
    assertEquals("66.66 %", CacheTiers.ratio(2, 1));
  }

  @Test
  public void testEngineIsNamedWithoutPathsAndSizes() {
    assertEquals("FileIOEngine",
      CacheTiers.engineName("ioengine=FileIOEngine, paths=[/a b/l2.cache], capacity=1,024"));
    assertEquals("offheap", CacheTiers.engineName("offheap"));
  }

  @Test
  public void testTierOfSegmentsIsNamedByItsEngine() {
    Configuration conf = LocalSettings.create(folder.getRoot().toPath(), 32, 64,
      "hbase.bucketcache.l2.ioengine=segments:" + folder.getRoot() + "/l2",
      "hbase.segmentcache.segment.mb=1");
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    try {
      List<List<String>> rows = new CacheTiers(cache).rows();
      assertEquals(List.of("L1", "ByteBufferIOEngine"), rows.get(1).subList(0, 2));
      assertEquals(List.of("L2", "segments"), rows.get(2).subList(0, 2));
    } finally {
      cache.shutdown();
    }
  }

  @Test
  public void testOutOfMemoryIsReportedWithLimitKeysAndRemedy() {
    assertEquals("A server has run out of memory: Java heap space. -Xmx is 512 MB; the memstore"
      + " (hbase.regionserver.global.memstore.size) and the map of L2 (hbase.bucketcache.l2.size,"
      + " --l2-mb) are in it. Raise it with HBASE_OPTS=-Xmx1024m, or lower one of the keys.",
      RunLocal.outOfMemory("Java heap space", 512, 300));
    String direct =
      RunLocal.outOfMemory("Cannot reserve 65536 bytes of direct buffer memory", 512, 300);
    assertTrue(direct, direct.contains("-XX:MaxDirectMemorySize is 300 MB;"));
    assertTrue(direct, direct.contains("HBASE_OPTS=-XX:MaxDirectMemorySize=600m"));
    String threads = RunLocal.outOfMemory("unable to create native thread", 512, 300);
    assertTrue(threads, threads.contains("raise ulimit -u"));
  }

  @Test
  public void testJarsOfAnotherCheckoutAreRefused() throws Exception {
    assertEquals(VersionInfo.getVersion(), RunLocal.runningVersion(Path.of("/")));
    String refused = assertThrows(RunLocal.Failure.class,
      () -> RunLocal.runningVersion(Path.of("/no/such/checkout"))).getMessage();
    assertTrue(refused, refused.startsWith("The running HBaseConfiguration is in "));
  }
}
