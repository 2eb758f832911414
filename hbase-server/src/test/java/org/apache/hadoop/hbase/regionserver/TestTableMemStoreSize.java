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
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The metric memStoreSize of a table is the size of the data, as that of a region and of a server
 * is: heap and off-heap size contain the data.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestTableMemStoreSize {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTableMemStoreSize.class);

  private static final TableName TABLE = TableName.valueOf("sizes");

  @Test
  public void testDataIsCountedOnce() {
    HRegionServer server = mock(HRegionServer.class);
    when(server.getConfiguration()).thenReturn(HBaseConfiguration.create());
    HRegion first = region(new MemStoreSize(100, 170, 0, 1), new MemStoreSize(20, 30, 0, 1));
    HRegion second = region(new MemStoreSize(3, 4, 3, 1));
    when(server.getOnlineRegionsLocalContext())
      .thenReturn(Arrays.asList(first, second));
    MetricsTableWrapperAggregateImpl metrics = new MetricsTableWrapperAggregateImpl(server);
    metrics.new TableMetricsWrapperRunnable().run();
    assertEquals(123, metrics.getMemStoreSize(TABLE.getNameAsString()));
  }

  private static HRegion region(MemStoreSize... sizes) {
    HRegion region = mock(HRegion.class);
    when(region.getTableDescriptor()).thenReturn(TableDescriptorBuilder.newBuilder(TABLE).build());
    List<HStore> stores = new ArrayList<>();
    for (MemStoreSize size : sizes) {
      HStore store = mock(HStore.class);
      when(store.getColumnFamilyName()).thenReturn("f" + stores.size());
      when(store.getMemStoreSize()).thenReturn(size);
      when(store.getMaxStoreFileAge()).thenReturn(OptionalLong.empty());
      when(store.getMinStoreFileAge()).thenReturn(OptionalLong.empty());
      when(store.getAvgStoreFileAge()).thenReturn(OptionalDouble.empty());
      stores.add(store);
    }
    when(region.getStores()).thenReturn(stores);
    return region;
  }
}
