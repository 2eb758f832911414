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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import java.io.IOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupKey;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Writes that name no durability have the one that the server gives their table. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMutationGroupsDurability extends MutationGroupsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMutationGroupsDurability.class);

  @Override
  public void setUp() throws IOException {
    conf.setBoolean(HRegion.WAL_HSYNC_CONF_KEY, true);
    super.setUp();
  }

  private static Put put(String row, Durability durability) {
    Put put = put(row, "v");
    put.setDurability(durability);
    return put;
  }

  private GroupKey key(HRegion of, Durability durability) {
    return groups.peek(of, MutationBatch.single(put("row", durability)));
  }

  /** In one group, the flush of a write with SYNC_WAL would pass for the sync of the others. */
  @Test
  public void testTheDefaultOfTheServerDecides() {
    GroupKey byDefault = key(region, Durability.USE_DEFAULT);
    assertEquals(key(region, Durability.FSYNC_WAL), byDefault);
    assertNotEquals(key(region, Durability.SYNC_WAL), byDefault);
    assertNotNull(byDefault);
    assertNull(key(region, Durability.ASYNC_WAL));
  }
}
