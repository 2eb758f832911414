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
package org.apache.hadoop.hbase.regionserver.operations;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The sum of the parts, and the settings under the checks of a server's start. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestServerSizing {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestServerSizing.class);

  private static final long MB = ServerSizing.MB;
  private static final long GB = ServerSizing.GB;
  private static final String L1_SIZE = "hbase.bucketcache.l1.size";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private static ServerSizing.Builder machine(long memory, long device, String... paths) {
    return new ServerSizing.Builder(memory, device, Arrays.asList(paths));
  }

  @Test
  public void testPartsAreWithinTheMemory() {
    for (ServerLoad load : ServerLoad.values()) {
      for (long memory : new long[] { 2, 8, 31, 32, 64, 127, 256, 1024 }) {
        for (long device : new long[] { 2, 100, 1000, 16_000 }) {
          ServerSizing sizing =
            machine(memory * GB, device * GB, "/a", "/b", "/c").load(load).build();
          String what = load + " " + memory + " GB, " + device + " GB";
          long direct = sizing.l1 + sizing.rowCache + sizing.segmentMemory + sizing.pool
            + sizing.clientBuffers + sizing.reserve;
          assertTrue(what, direct <= sizing.direct && direct > sizing.direct - MB);
          assertEquals(what, memory * GB,
            sizing.system + sizing.heap + sizing.jvm + sizing.direct);
          assertTrue(what, sizing.heap <= 31 * GB);
          assertTrue(what, sizing.mapHeap() < sizing.heap / 3);
          assertTrue(what, sizing.l2 <= device * GB * 9 / 10);
          assertTrue(what, sizing.l1HitRatio() <= sizing.hitRatio());
          assertEquals(what, sizing.rowCache == 0, sizing.rowHitRatio() == 0);
          assertTrue(what, load != ServerLoad.INGEST || sizing.rowCache == 0);
        }
      }
    }
  }

  @Test
  public void testIndexBloomAndHitsOfTheExampleOfTheGuide() {
    ServerSizing sizing = machine(96 * GB, 2000 * GB, "/ssd").data((long) 1.6e12)
      .block(32 << 10).row(1600).key(23).build();
    assertEquals(48.8e6, sizing.blocks, 1e5);
    assertEquals(3.1e9, sizing.indexBytes, 1e8);
    assertEquals(1.2e9, sizing.bloomBytes, 1e7);
    assertEquals(0.66, ZipfianHitRatio.of(1e9, 48.8e6, 32e9 / (32 << 10)), 0.01);
  }

  /** Returns the largest machine whose direct memory is within the limit of this process. */
  private ServerSizing fit(ServerLoad load) {
    String[] paths =
      { new File(folder.getRoot(), "a").getPath(), new File(folder.getRoot(), "b").getPath() };
    long low = GB;
    long high = 64 * GB;
    while (high - low > MB) {
      long middle = (low + high) / 2;
      if (
        machine(middle, 8 * GB, paths).load(load).build().direct
            > DirectMemoryUtils.getDirectMemorySize()
      ) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return machine(low, 8 * GB, paths).load(load).build();
  }

  private static Configuration withDefaults(Configuration settings) {
    // The settings of tests are left out.
    Configuration conf = new Configuration(false);
    conf.addResource("hbase-default.xml");
    for (Map.Entry<String, String> entry : settings) {
      conf.set(entry.getKey(), entry.getValue());
    }
    return conf;
  }

  @Test
  public void testSettingsPassTheCheckAndLeaveNothingUnused() {
    for (ServerLoad load : ServerLoad.values()) {
      ServerSizing sizing = fit(load);
      Configuration conf = withDefaults(sizing.settings());
      assertEquals(Collections.emptyList(), SettingsCheck.refused(conf));
      assertEquals(Collections.emptyList(), memoryWarnings(conf));
      assertEquals(Collections.emptyList(), SettingsCheck.misspelt(conf));
      // What the sum does not have is the memory of HDFS and Netty.
      long more = sizing.l1 + sizing.clientBuffers + 3 * MB;
      conf.setLong(L1_SIZE, more / MB);
      assertEquals(load.toString(), 1, memoryWarnings(conf).size());
    }
  }

  private static List<String> memoryWarnings(Configuration conf) {
    List<String> warnings = SettingsCheck.warnings(conf);
    return warnings.stream().filter(warning -> warning.contains("direct memory"))
      .collect(Collectors.toList());
  }

  @Test
  public void testIndexThatWouldTakeMostOfTheMemoryLimitsL2() {
    ServerSizing sizing = machine(32 * GB, 16_000 * GB, "/a").block(8 << 10).build();
    assertTrue(sizing.segmentMemory <= sizing.direct / 2);
    assertTrue(sizing.l2 < 16_000 * GB / 2);
  }

  @Test
  public void testPrefetchIsForDataThatFits() {
    ServerSizing fits = machine(64 * GB, 1000 * GB, "/a").load(ServerLoad.SERVING).build();
    assertEquals("true", fits.settings().get("hbase.rs.prefetchblocksonopen"));
    ServerSizing doesNot = machine(64 * GB, 1000 * GB, "/a").load(ServerLoad.SERVING)
      .data(1000 * GB).build();
    assertEquals(null, doesNot.settings().get("hbase.rs.prefetchblocksonopen"));
    assertTrue(doesNot.hitRatio() < 1);
    assertEquals(1, fits.hitRatio(), 0);
  }

  @Test
  public void testTooLittleMemoryIsNamed() {
    String message = assertThrows(IllegalArgumentException.class,
      () -> machine(32 * GB, 1000 * GB, "/a").heap(30 * GB).build()).getMessage();
    assertEquals("a memory of 32768 MB leaves no 64 MB for L1 beside a heap of 30720 MB",
      message);
  }
}
