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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.TableDescriptorChecker;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The limit's values, where it may be set, and what it does to the writer of a compaction. */
@Category({ IOTests.class, SmallTests.class })
public class TestPrefetchLimit {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchLimit.class);

  private static final String KEY = PrefetchLimit.FULL_MAX_BYTES_KEY;

  private final Configuration conf = HBaseConfiguration.create();

  @Test
  public void testWithoutTheKeyThereIsNoLimit() {
    assertEquals(PrefetchLimit.NO_LIMIT, PrefetchLimit.of(conf));
  }

  @Test
  public void testLimitIsANumberOfBytesFromZeroOn() {
    for (long limit : new long[] { 0, 1, 1L << 40, Long.MAX_VALUE }) {
      conf.set(KEY, " " + limit + " ");
      assertEquals(limit, PrefetchLimit.of(conf));
    }
  }

  @Test
  public void testBadValueIsNoLimitAndDoesNotFailTheRegion() {
    for (String value : new String[] { "-1", "", "1g", "many", "1.5", "9223372036854775808" }) {
      conf.set(KEY, value);
      assertEquals(PrefetchLimit.NO_LIMIT, PrefetchLimit.of(conf));
    }
  }

  @Test
  public void testMasterRefusesATableWithABadValue() throws Exception {
    conf.setBoolean(TableDescriptorChecker.TABLE_SANITY_CHECKS, true);
    TableDescriptorChecker.sanityCheck(conf, table("1000", "2000"));
    assertRefused(table("-5", "2000"), "-5");
    assertRefused(table("1000", "1 GB"), "1 GB");
    TableDescriptor asValue = TableDescriptorBuilder.newBuilder(TableName.valueOf("t"))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(new byte[] { 'f' }).setValue(KEY, "x").build())
      .build();
    assertRefused(asValue, "x");
  }

  private static TableDescriptor table(String ofTable, String ofFamily) {
    return TableDescriptorBuilder.newBuilder(TableName.valueOf("t")).setValue(KEY, ofTable)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(new byte[] { 'f' })
        .setConfiguration(KEY, ofFamily).build())
      .build();
  }

  private void assertRefused(TableDescriptor table, String value) {
    String message = assertThrows(DoNotRetryIOException.class,
      () -> TableDescriptorChecker.sanityCheck(conf, table)).getMessage();
    assertTrue(message,
      message.startsWith(KEY + " is " + value + "; must be an integer of at least 0. Set "));
  }

  private CacheConfig writerOf(long size, boolean cacheCompacted,
    boolean prefetch) {
    conf.setBoolean(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_KEY, cacheCompacted);
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, prefetch);
    CacheConfig store = new CacheConfig(conf);
    CacheConfig writer = new CacheConfig(store);
    PrefetchLimit.apply(conf, store, writer, size);
    return writer;
  }

  private static void assertCaches(CacheConfig writer, boolean data, boolean meta) {
    assertEquals(data, writer.shouldCacheDataOnWrite());
    assertEquals(meta, writer.shouldCacheIndexesOnWrite());
    assertEquals(meta, writer.shouldCacheBloomsOnWrite());
  }

  @Test
  public void testCompactionAboveTheLimitCachesIndexAndBloom() {
    conf.setLong(KEY, 100);
    assertCaches(writerOf(101, true, false), false, true);
    assertCaches(writerOf(101, false, true), false, true);
    assertCaches(writerOf(101, false, false), false, false);
    assertCaches(writerOf(100, true, true), false, false);
    assertCaches(writerOf(0, true, true), false, false);
    conf.setLong(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_THRESHOLD_KEY, 50);
    assertCaches(writerOf(51, true, false), false, true);
  }

  @Test
  public void testWithoutTheKeyACompactionCachesAsInStock() {
    conf.setLong(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_THRESHOLD_KEY, 50);
    assertCaches(writerOf(51, true, true), false, false);
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    assertTrue(writerOf(0, true, true).shouldCacheDataOnWrite());
    assertFalse(writerOf(0, true, true).shouldCacheIndexesOnWrite());
  }
}
