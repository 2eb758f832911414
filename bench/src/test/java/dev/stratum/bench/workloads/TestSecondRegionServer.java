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
package dev.stratum.bench.workloads;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.StandaloneHBase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestSecondRegionServer {
  private static final TableName TABLE = TableName.valueOf("moved");
  private static final byte[] FAMILY = Bytes.toBytes("f");

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  @Test
  public void testRegionsMoveThereAndBack() throws Exception {
    Path folder = Files.createTempDirectory("second");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.HBASE_DIR, folder.resolve("hbase").toUri().toString());
    try (StandaloneHBase hbase = new StandaloneHBase(conf, folder)) {
      hbase.createTable(TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
      try (Table table = hbase.connection().getTable(TABLE)) {
        table.put(new Put(FAMILY).addColumn(FAMILY, FAMILY, FAMILY));
        HRegion region = hbase.server().getRegions(TABLE).get(0);
        SecondRegionServer second = new SecondRegionServer(hbase.server());
        second.take(List.of(region));
        assertEquals(1, second.regions(TABLE).size());
        assertEquals(0, hbase.server().getRegions(TABLE).size());
        assertEquals(1, table.get(new Get(FAMILY)).size());
        long misses = second.misses().ofReads();
        assertTrue("misses " + misses, misses >= 1);
        assertTrue(second.cachedBytes() > 0);
        second.restart();
        assertEquals(1, second.regions(TABLE).size());
        second.cache(TABLE);
        long later = second.misses().ofReads();
        assertTrue(misses + " and " + later, later >= misses);
        second.close();
        assertEquals(1, hbase.server().getRegions(TABLE).size());
        assertEquals(1, table.get(new Get(FAMILY)).size());
      }
    }
  }

  @Test
  public void testItsCacheHasAFileOfItsOwn() {
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.bucketcache.l2.ioengine", "file:/cache");
    conf.set("hbase.bucketcache.ioengine", "offheap");
    Configuration second = SecondRegionServer.configuration(conf);
    assertEquals("file:/cache.second", second.get("hbase.bucketcache.l2.ioengine"));
    assertEquals("/cache.second.map", second.get("hbase.bucketcache.l2.persistent.path"));
    assertNull(second.get("hbase.bucketcache.persistent.path"));
    assertEquals("offheap", second.get("hbase.bucketcache.ioengine"));
    assertEquals("file:/cache", conf.get("hbase.bucketcache.l2.ioengine"));
  }
}
