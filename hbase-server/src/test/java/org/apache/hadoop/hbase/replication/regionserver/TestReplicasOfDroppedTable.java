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
package org.apache.hadoop.hbase.replication.regionserver;

import static org.junit.Assert.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.RegionLocations;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableDescriptors;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.ConnectionConfiguration;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.ReplicationTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.wal.WAL;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Edits of a table that was dropped are skipped, and do not fail the replication to region
 * replicas, which is that of all tables.
 */
@Category({ ReplicationTests.class, SmallTests.class })
public class TestReplicasOfDroppedTable {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReplicasOfDroppedTable.class);

  private static final TableName TABLE = TableName.valueOf("dropped");

  private final TableDescriptors descriptors = mock(TableDescriptors.class);
  private final ClusterConnection connection = mock(ClusterConnection.class);
  private final RegionInfo region = RegionInfoBuilder.newBuilder(TABLE).build();
  private final List<WAL.Entry> entries = Collections.singletonList(mock(WAL.Entry.class));
  private RegionReplicaReplicationEndpoint.RegionReplicaSinkWriter writer;

  @Before
  public void setUp() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    when(connection.getConfiguration()).thenReturn(conf);
    when(connection.getConnectionConfiguration())
      .thenReturn(mock(ConnectionConfiguration.class));
    RegionLocations primary =
      new RegionLocations(new HRegionLocation(region, ServerName.valueOf("server", 1, 1)));
    when(connection.locateRegion(eq(TABLE), any(), anyBoolean(), anyBoolean(), anyInt()))
      .thenReturn(primary);
    writer = new RegionReplicaReplicationEndpoint.RegionReplicaSinkWriter(null, connection, null,
      1000, descriptors);
  }

  @Test
  public void testTableWithoutDescriptor() throws Exception {
    when(descriptors.get(TABLE)).thenReturn(null);
    append();
    assertLookups(1);
  }

  @Test
  public void testTableWithReplicasIsLookedUpAgain() throws Exception {
    TableDescriptor table =
      TableDescriptorBuilder.newBuilder(TABLE).setRegionReplication(2).build();
    when(descriptors.get(TABLE)).thenReturn(table);
    append();
    assertLookups(2);
  }

  private void append() throws Exception {
    writer.append(TABLE, region.getEncodedNameAsBytes(), region.getStartKey(), entries);
    assertEquals(1, entries.size());
  }

  private void assertLookups(int count) throws Exception {
    verify(connection, times(count)).locateRegion(eq(TABLE), any(), anyBoolean(), anyBoolean(),
      anyInt());
  }
}
