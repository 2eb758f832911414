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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.MemoryCompactionPolicy;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.storefiletracker.StoreFileTrackerFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.hadoop.hbase.wal.WAL;

/**
 * A region with random families, and random changes of it: cells and delete markers of all kinds
 * whose timestamps do not follow the order of writing and are often equal, TTL of families and
 * cells, flushes, in-memory flushes, compactions, discharged files, bulk-loaded files and, in
 * daughter regions, half files. All follows from the seed.
 */
final class PointGetHistory implements Closeable {

  static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g"), Bytes.toBytes("h") };
  static final byte[][] COLUMNS = { HConstants.EMPTY_BYTE_ARRAY, Bytes.toBytes("a"),
    Bytes.toBytes("b"), Bytes.toBytes("bb"), Bytes.toBytes("c"), Bytes.toBytes("d") };
  static final int ROWS = 7;
  /** Timestamps are the start and up to this many milliseconds before it. */
  static final int TIMES = 12;
  static final long START = 1_700_000_000_000L;

  private final HBaseTestingUtility util;
  private final Random random;
  private final ManualEnvironmentEdge clock;
  private final Configuration conf;
  private final TableDescriptor table;
  private final HRegion region;
  private final List<HRegion> daughters = new ArrayList<>();
  private int files;

  PointGetHistory(HBaseTestingUtility util, long seed, ManualEnvironmentEdge clock)
    throws IOException {
    this.util = util;
    this.random = new Random(seed);
    this.clock = clock;
    clock.setValue(START);
    conf = new Configuration(util.getConfiguration());
    conf.setInt("hbase.hstore.compaction.min", 2);
    // A small part of the flush size makes in-memory flushes frequent.
    conf.setDouble(CompactingMemStore.IN_MEMORY_FLUSH_THRESHOLD_FACTOR_KEY, 0.01);
    TableDescriptorBuilder builder =
      TableDescriptorBuilder.newBuilder(TableName.valueOf("history" + seed))
        // Has an effect where there is a row cache.
        .setValue("ROW_CACHE_ENABLED", "true").setMemStoreFlushSize(256 * 1024);
    for (byte[] family : FAMILIES) {
      builder.setColumnFamily(family(family));
    }
    table = builder.build();
    region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(), conf,
      table);
  }

  private ColumnFamilyDescriptor family(byte[] name) {
    KeepDeletedCells keep = random.nextInt(4) == 0 ? KeepDeletedCells.TRUE : KeepDeletedCells.FALSE;
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setMaxVersions(1 + random.nextInt(4))
      .setBloomFilterType(one(BloomType.NONE, BloomType.ROW, BloomType.ROWCOL))
      .setDataBlockEncoding(one(DataBlockEncoding.NONE, DataBlockEncoding.NONE,
        DataBlockEncoding.PREFIX, DataBlockEncoding.DIFF, DataBlockEncoding.FAST_DIFF,
        DataBlockEncoding.ROW_INDEX_V1))
      .setBlocksize(one(64, 256, 65536)).setKeepDeletedCells(keep)
      .setTimeToLive(random.nextInt(3) == 0 ? 1 : HConstants.FOREVER)
      .setInMemoryCompaction(one(MemoryCompactionPolicy.NONE, MemoryCompactionPolicy.BASIC,
        MemoryCompactionPolicy.EAGER))
      .build();
  }

  @SafeVarargs
  final <T> T one(T... values) {
    return values[random.nextInt(values.length)];
  }

  Random random() {
    return random;
  }

  HRegion region() {
    return region;
  }

  static byte[] row(int number) {
    return Bytes.toBytes("row" + number);
  }

  long time() {
    return START - random.nextInt(TIMES);
  }

  /** Makes one random change. Returns its name. */
  String change() throws IOException {
    int kind = random.nextInt(100);
    if (kind < 50) {
      put();
      return "put";
    } else if (kind < 72) {
      delete();
      return "delete";
    } else if (kind < 82) {
      region.flush(true);
      return "flush";
    } else if (kind < 87) {
      region.compact(random.nextBoolean());
      return "compact";
    } else if (kind < 91) {
      for (HStore store : region.getStores()) {
        store.closeAndArchiveCompactedFiles();
      }
      return "discharge";
    } else if (kind < 95) {
      bulkLoad();
      return "bulk load";
    } else if (kind < 98) {
      flushInMemory();
      return "flush in memory";
    }
    clock.setValue(clock.currentTime() + random.nextInt(400));
    return "time";
  }

  /**
   * Puts a row without two cells of one column and timestamp: such cells have one sequence id, and
   * if a flush in memory is between them, they are in two segments, and a scanner returns either of
   * them.
   */
  private void put() throws IOException {
    Put put = new Put(row(random.nextInt(ROWS)));
    for (int i = random.nextInt(6); i >= 0; i--) {
      byte[] value = new byte[random.nextInt(40)];
      random.nextBytes(value);
      byte[] family = one(FAMILIES);
      byte[] column = one(COLUMNS);
      long time = time();
      if (!put.has(family, column, time)) {
        put.addColumn(family, column, time, value);
      }
    }
    if (random.nextInt(6) == 0) {
      put.setTTL(random.nextInt(600));
    }
    region.put(put);
  }

  private void delete() throws IOException {
    Delete delete = new Delete(row(random.nextInt(ROWS)));
    switch (random.nextInt(4)) {
      case 0:
        delete.addFamily(one(FAMILIES), time());
        break;
      case 1:
        delete.addFamilyVersion(one(FAMILIES), time());
        break;
      case 2:
        delete.addColumns(one(FAMILIES), one(COLUMNS), time());
        break;
      default:
        delete.addColumn(one(FAMILIES), one(COLUMNS), time());
        break;
    }
    region.delete(delete);
  }

  private void flushInMemory() {
    for (HStore store : region.getStores()) {
      // The base never flushes an empty segment in memory, and does not close one in a snapshot.
      if (
        store.memstore instanceof CompactingMemStore
          && !((CompactingMemStore) store.memstore).getActive().isEmpty()
      ) {
        ((CompactingMemStore) store.memstore).flushInMemory();
      }
    }
  }

  private void bulkLoad() throws IOException {
    byte[] family = one(FAMILIES);
    TreeSet<KeyValue> cells = new TreeSet<>(CellComparatorImpl.COMPARATOR);
    for (int i = random.nextInt(8); i >= 0; i--) {
      KeyValue.Type type = one(KeyValue.Type.Put, KeyValue.Type.Put, KeyValue.Type.Put,
        KeyValue.Type.DeleteColumn, KeyValue.Type.Delete, KeyValue.Type.DeleteFamily);
      byte[] column =
        type == KeyValue.Type.DeleteFamily ? HConstants.EMPTY_BYTE_ARRAY : one(COLUMNS);
      long time = random.nextInt(20) == 0 ? HConstants.LATEST_TIMESTAMP : time();
      KeyValue cell = new KeyValue(row(random.nextInt(ROWS)), family, column, time, type,
        Bytes.toBytes(random.nextInt()));
      cell.setSequenceId(random.nextInt(3));
      cells.add(cell);
    }
    FileSystem fs = util.getTestFileSystem();
    Path path = new Path(new Path(util.getDataTestDir("bulk" + table.getTableName()), "f"),
      "file" + files++);
    path = new Path(path.getParent().getParent(), Bytes.toString(family) + "/" + path.getName());
    ColumnFamilyDescriptor descriptor = table.getColumnFamily(family);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), fs)
      .withFilePath(path).withBloomType(descriptor.getBloomFilterType()).withMaxKeyCount(10)
      .withFileContext(new HFileContextBuilder().withIncludesMvcc(random.nextBoolean())
        .withIncludesTags(true).withBlockSize(64)
        .withDataBlockEncoding(descriptor.getDataBlockEncoding()).build())
      .build();
    for (KeyValue cell : cells) {
      writer.append(cell);
    }
    writer.appendFileInfo(HStoreFile.BULKLOAD_TIME_KEY, Bytes.toBytes(clock.currentTime()));
    writer.appendMetadata(random.nextInt(3), false);
    writer.close();
    region.bulkLoadHFiles(Collections.singletonList(new Pair<>(family, path.toString())),
      random.nextBoolean(), null);
  }

  /** Returns two regions with halves of the files of this region. */
  List<HRegion> split() throws IOException {
    region.flush(true);
    byte[] middle = row(ROWS / 2);
    for (boolean top : new boolean[] { false, true }) {
      RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName())
        .setStartKey(top ? middle : HConstants.EMPTY_START_ROW)
        .setEndKey(top ? HConstants.EMPTY_END_ROW : middle).setRegionId(START + (top ? 1 : 2))
        .build();
      for (HStore store : region.getStores()) {
        for (HStoreFile file : store.getStorefiles()) {
          file.initReader();
          region.getRegionFileSystem().splitStoreFile(info, store.getColumnFamilyName(), file,
            middle, top, null, StoreFileTrackerFactory.create(conf, true, store.getStoreContext()));
        }
      }
      WAL wal = HBaseTestingUtility.createWal(conf, util.getDataTestDir(), info);
      daughters.add(HRegion.openHRegion(util.getDataTestDir(), info, table, wal, conf));
    }
    return daughters;
  }

  /** Returns the cells that a scanner of the region returns, as tests compare them. */
  static List<String> texts(List<Cell> cells) {
    List<String> texts = new ArrayList<>();
    for (Cell cell : cells) {
      texts.add(cell + " " + cell.getSequenceId() + " " + Bytes.toStringBinary(cell.getValueArray(),
        cell.getValueOffset(), cell.getValueLength()) + " tags " + cell.getTagsLength());
    }
    return texts;
  }

  @Override
  public void close() throws IOException {
    for (HRegion daughter : daughters) {
      HBaseTestingUtility.closeRegionAndWAL(daughter);
    }
    HBaseTestingUtility.closeRegionAndWAL(region);
  }
}
