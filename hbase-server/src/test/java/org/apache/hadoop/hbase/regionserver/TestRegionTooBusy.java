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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.util.StringUtils;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A write that a busy region refuses costs no stack trace, and not each one is logged. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRegionTooBusy {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionTooBusy.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");

  @Test
  public void testRefusedWrite() throws IOException {
    HBaseTestingUtility util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    conf.setLong(HConstants.HREGION_MEMSTORE_FLUSH_SIZE, 10_000);
    conf.setInt(HConstants.HREGION_MEMSTORE_BLOCK_MULTIPLIER, 2);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("busy"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    HRegion region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
    try {
      RegionTooBusyException refusal = null;
      for (int row = 0; refusal == null; row++) {
        assertTrue("is refused at last", row < 100);
        try {
          region.put(new Put(Bytes.toBytes(row)).addColumn(FAMILY, FAMILY, new byte[1000]));
        } catch (RegionTooBusyException e) {
          refusal = e;
        }
      }
      assertEquals(1, region.getBlockedRequestsCount());
      assertEquals(0, refusal.getStackTrace().length);
      String sent = StringUtils.stringifyException(refusal).trim();
      assertTrue(sent, sent.startsWith(RegionTooBusyException.class.getName() + ": "));
      assertTrue(sent, sent.contains(region.getRegionInfo().getEncodedName()));
      assertEquals("what a client gets is one line", -1, sent.indexOf('\n'));
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
      util.cleanupTestDir();
    }
  }

  @Test
  public void testLogsOnceASecond() {
    TooBusyLog log = new TooBusyLog();
    assertTrue(log.isDue(5000));
    assertFalse(log.isDue(5000));
    assertFalse(log.isDue(5999));
    assertTrue(log.isDue(6000));
    assertFalse(log.isDue(6500));
  }
}
