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
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.Filter;
import org.apache.hadoop.hbase.filter.ParseFilter;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.RandomByteIterator;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's interface to HBase's 2.x client, and the operations that YCSB has not: multiget,
 * increments and read-modify-write of a counter, conditional puts, and deletes of a newest version.
 * One per thread; the connection is shared, as in an application.
 * <p>
 * Properties: <code>table</code> and <code>fieldlength</code> (YCSB's), <code>durability</code> (of
 * every write; <code>SYNC_WAL</code>), <code>batch</code> (how many inserts are sent together,
 * 1), <code>filter</code> (of gets, in the language of {@link ParseFilter}; none),
 * <code>scancells</code> (the most cells of a result of a scan; all of the row) and
 * <code>table.families</code> (over which fields are spread, 1). What HBase throws is thrown on,
 * unchecked: a workload with failures in it is no result.
 */
final class HBaseBinding extends DB {
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final byte[] COUNTER = Bytes.toBytes("count");
  /** The first field of YCSB's rows. */
  private static final String FIELD = CoreWorkload.FIELD_NAME_PREFIX_DEFAULT + "0";
  /** A column that no row has. */
  private static final byte[] ABSENT = Bytes.toBytes("absent");

  private final Table table;
  private final Durability durability;
  private final int batch;
  private final int valueBytes;
  private final Filter filter;
  private final int scanCells;
  private final int families;
  private final List<Put> inserts = new ArrayList<>();
  private long rows;
  private long missing;

  HBaseBinding(Connection connection, Properties properties) throws IOException {
    table = connection.getTable(TableName.valueOf(properties.getProperty("table")));
    durability = Durability.valueOf(properties.getProperty("durability", "SYNC_WAL"));
    batch = Integer.parseInt(properties.getProperty("batch", "1"));
    valueBytes =
      Integer.parseInt(properties.getProperty(CoreWorkload.FIELD_LENGTH_PROPERTY, "100"));
    String ofGets = properties.getProperty("filter", "");
    filter = ofGets.isEmpty() ? null : new ParseFilter().parseFilterString(ofGets);
    scanCells = Integer.parseInt(properties.getProperty("scancells", "-1"));
    families = TableOfCase.families(properties);
  }

  /** Returns the rows that were read or written so far. */
  long rows() {
    return rows;
  }

  /** Returns the rows that were requested and not found. */
  long missing() {
    return missing;
  }

  @Override
  public Status read(String tableName, String key, Set<String> fields,
    Map<String, ByteIterator> into) {
    try {
      Result result = table.get(get(key, fields));
      add(result, into);
      return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads whole rows in one request per region. @return how many cells there were */
  int multiget(List<String> keys) {
    List<Get> gets = new ArrayList<>(keys.size());
    for (String key : keys) {
      gets.add(get(key, null));
    }
    try {
      int cells = 0;
      for (Result result : table.get(gets)) {
        add(result, new HashMap<>());
        cells += result.size();
      }
      return cells;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Get get(String key, Set<String> fields) {
    Get get = new Get(Bytes.toBytes(key)).setFilter(filter);
    if (fields == null) {
      return families == 1 ? get.addFamily(FAMILY) : get;
    }
    for (String field : fields) {
      get.addColumn(family(field), Bytes.toBytes(field));
    }
    return get;
  }

  private byte[] family(String field) {
    if (families == 1) {
      return FAMILY;
    }
    int number =
      Integer.parseInt(field.substring(CoreWorkload.FIELD_NAME_PREFIX_DEFAULT.length()));
    return TableOfCase.family(number % families);
  }

  private void add(Result result, Map<String, ByteIterator> into) {
    rows++;
    if (result.isEmpty()) {
      missing++;
      return;
    }
    for (Cell cell : result.rawCells()) {
      into.put(Bytes.toString(CellUtil.cloneQualifier(cell)),
        new ByteArrayByteIterator(CellUtil.cloneValue(cell)));
    }
  }

  @Override
  public Status scan(String tableName, String startKey, int count, Set<String> fields,
    Vector<HashMap<String, ByteIterator>> into) {
    Scan scan = new Scan().withStartRow(Bytes.toBytes(startKey)).setLimit(count).setCaching(count)
      .setBatch(scanCells);
    if (fields != null) {
      fields.forEach(field -> scan.addColumn(family(field), Bytes.toBytes(field)));
    } else if (families == 1) {
      scan.addFamily(FAMILY);
    }
    try (ResultScanner scanner = table.getScanner(scan)) {
      for (Result result = scanner.next(); result != null; result = scanner.next()) {
        HashMap<String, ByteIterator> row = new HashMap<>();
        add(result, row);
        into.add(row);
      }
      return Status.OK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public Status update(String tableName, String key, Map<String, ByteIterator> values) {
    try {
      table.put(put(key, values));
      rows++;
      return Status.OK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Sends every batch's last insert with those before it. */
  @Override
  public Status insert(String tableName, String key, Map<String, ByteIterator> values) {
    inserts.add(put(key, values));
    if (inserts.size() >= batch) {
      flush();
    }
    return Status.OK;
  }

  /** Sends the inserts that are waiting. */
  void flush() {
    try {
      if (inserts.size() == 1) {
        table.put(inserts.get(0));
      } else if (!inserts.isEmpty()) {
        table.put(inserts);
      }
      rows += inserts.size();
      inserts.clear();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Put put(String key, Map<String, ByteIterator> values) {
    Put put = new Put(Bytes.toBytes(key)).setDurability(durability);
    values.forEach(
      (field, value) -> put.addColumn(family(field), Bytes.toBytes(field), value.toArray()));
    return put;
  }

  void increment(String key) {
    try {
      table.increment(new Increment(Bytes.toBytes(key)).addColumn(FAMILY, COUNTER, 1)
        .setDurability(durability));
      rows++;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Does what applications do that do not use increments; another client's update may be lost. */
  void readModifyWriteCounter(String key) {
    byte[] row = Bytes.toBytes(key);
    try {
      Result result = table.get(new Get(row).addColumn(FAMILY, COUNTER));
      long count = result.isEmpty() ? 0 : Bytes.toLong(result.getValue(FAMILY, COUNTER));
      table.put(new Put(row).addColumn(FAMILY, COUNTER, Bytes.toBytes(count + 1))
        .setDurability(durability));
      rows++;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts rows in one request. */
  void put(List<String> keys) {
    try {
      table.put(keys.stream().map(this::put).toList());
      rows += keys.size();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Put put(String key) {
    return put(key, Map.of(FIELD, new RandomByteIterator(valueBytes)));
  }

  /**
   * Puts a row on a condition that it meets.
   * @throws IllegalStateException if it did not meet it
   */
  void checkAndMutate(String key) {
    try {
      if (
        !table.checkAndMutate(CheckAndMutate.newBuilder(Bytes.toBytes(key))
          .ifNotExists(FAMILY, ABSENT).build(put(key))).isSuccess()
      ) {
        throw new IllegalStateException(key + " has a column that nobody has written.");
      }
      rows++;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts rows, and deletes the newest version of a column of the last one, in one batch. */
  void deleteLatest(List<String> keys) {
    List<Row> mutations = new ArrayList<>(keys.size());
    for (String key : keys.subList(0, keys.size() - 1)) {
      mutations.add(put(key));
    }
    mutations.add(new Delete(Bytes.toBytes(keys.get(keys.size() - 1)))
      .addColumn(FAMILY, Bytes.toBytes(FIELD)).setDurability(durability));
    try {
      table.batch(mutations, new Object[mutations.size()]);
      rows += mutations.size();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Status delete(String tableName, String key) {
    try {
      table.delete(new Delete(Bytes.toBytes(key)).setDurability(durability));
      rows++;
      return Status.OK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void cleanup() {
    try {
      table.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
