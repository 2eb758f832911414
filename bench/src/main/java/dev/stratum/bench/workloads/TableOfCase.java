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

import java.io.IOException;
import java.util.Locale;
import java.util.Properties;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The table that the properties of a case describe: <code>table.KEY</code>, and
 * <code>family.KEY</code> for a key of HBase's. Its families are alike.
 */
final class TableOfCase {
  /** The prefix of HBase keys that a case sets for its table's families. */
  private static final String FAMILY_KEY = "family.";
  /**
   * The format of split keys with <code>zeropadding=19</code>, which are evenly distributed up to
   * 2^63.
   */
  private static final String SPLIT = "user%019d";

  private final Properties properties;

  TableOfCase(Properties properties) {
    this.properties = properties;
  }

  private String get(String key, String otherwise) {
    return properties.getProperty("table." + key, otherwise);
  }

  private boolean isTrue(String key, boolean otherwise) {
    return Boolean.parseBoolean(get(key, Boolean.toString(otherwise)));
  }

  /** Returns how many families a case's table has. */
  static int families(Properties properties) {
    return Integer.parseInt(properties.getProperty("table.families", "1"));
  }

  /** Returns the name of a family; the first is the only one of most tables. */
  static byte[] family(int number) {
    return number == 0 ? HBaseBinding.FAMILY : Bytes.toBytes("f" + number);
  }

  TableDescriptor descriptor() throws IOException {
    TableDescriptorBuilder table =
      TableDescriptorBuilder.newBuilder(TableName.valueOf(properties.getProperty("table")))
        // Has an effect where there is a row cache.
        .setValue("ROW_CACHE_ENABLED", get("row.cache", "true"));
    for (int i = 0; i < families(properties); i++) {
      table.setColumnFamily(descriptor(family(i)));
    }
    int flushKilobytes = Integer.parseInt(get("flush.kb", "0"));
    if (flushKilobytes > 0) {
      table.setMemStoreFlushSize((long) flushKilobytes << 10);
    }
    if (!isTrue("split", true)) {
      table.setRegionSplitPolicyClassName(DisabledRegionSplitPolicy.class.getName());
    }
    String coprocessor = get("coprocessor", "");
    if (!coprocessor.isEmpty()) {
      table.setCoprocessor(coprocessor);
    }
    return table.build();
  }

  private ColumnFamilyDescriptor descriptor(byte[] name) {
    boolean cached = isTrue("cached", true);
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(name)
      .setBloomFilterType(BloomType.valueOf(get("bloom", "ROW")))
      .setDataBlockEncoding(DataBlockEncoding.valueOf(get("encoding", "NONE")))
      .setCompressionType(Compression.Algorithm.valueOf(get("compression", "NONE")))
      .setBlocksize(Integer.parseInt(get("blocksize", "65536")))
      .setBlockCacheEnabled(cached)
      .setCacheDataOnWrite(isTrue("cached.on.write", cached))
      .setPrefetchBlocksOnOpen(isTrue("prefetch", cached))
      .setCacheIndexesOnWrite(true).setCacheBloomsOnWrite(true);
    for (String key : properties.stringPropertyNames()) {
      if (key.startsWith(FAMILY_KEY)) {
        family.setConfiguration(key.substring(FAMILY_KEY.length()), properties.getProperty(key));
      }
    }
    return family.build();
  }

  /** Returns the keys between its regions, or null if it has one. */
  byte[][] splits() {
    String splits = get("splits", "");
    if (!splits.isEmpty()) {
      return Bytes.toByteArrays(splits.split(","));
    }
    String most = get("regions", "1");
    int regions = Math.min(Integer.parseInt(most),
      Integer.parseInt(properties.getProperty("regions.max", most)));
    if (regions == 1) {
      return null;
    }
    byte[][] keys = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      keys[i - 1] = Bytes.toBytes(String.format(Locale.ROOT, SPLIT, Long.MAX_VALUE / regions * i));
    }
    return keys;
  }
}
