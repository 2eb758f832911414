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
package org.apache.hadoop.hbase.regionserver.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The properties that increments of a row must share to be merged: columns, time range, durability,
 * and attributes, with time to live and priority among them. Immutable.
 */
@InterfaceAudience.Private
final class CounterKey {

  /** Mutation's attribute of whether results are returned. */
  private static final String RETURN_RESULTS = "_rr_";

  private static final byte PUT = KeyValue.Type.Put.getCode();

  private static final Comparator<Cell> BY_QUALIFIER =
    CellComparator.getInstance()::compareQualifiers;

  private final Increment first;
  /** Families and qualifiers alternately, sorted. */
  private final byte[][] columns;
  private final Map<String, byte[]> attributes;
  private final int hash;

  private CounterKey(Increment first, byte[][] columns, Map<String, byte[]> attributes) {
    this.first = first;
    this.columns = columns;
    this.attributes = attributes;
    int h = 1;
    for (byte[] name : columns) {
      h = h * 31 + Bytes.hashCode(name);
    }
    this.hash = h;
  }

  /**
   * Returns the key of an increment.
   * @return null if the increment cannot be merged: it has a column twice, a cell with tags, with a
   *         timestamp, or with a value that is not eight bytes long, or its family keeps versions
   */
  static CounterKey of(HRegion region, Increment increment) {
    for (byte[] family : increment.getFamilyCellMap().keySet()) {
      ColumnFamilyDescriptor descriptor = region.getTableDescriptor().getColumnFamily(family);
      if (descriptor == null || descriptor.getMaxVersions() > 1) {
        return null;
      }
    }
    List<Cell> cells = cells(increment);
    byte[][] columns = new byte[cells.size() * 2][];
    for (int i = 0; i < cells.size(); i++) {
      Cell cell = cells.get(i);
      if (
        cell.getValueLength() != Bytes.SIZEOF_LONG || cell.getTypeByte() != PUT
          || cell.getTimestamp() != HConstants.LATEST_TIMESTAMP
          || PrivateCellUtil.tagsIterator(cell).hasNext()
      ) {
        return null;
      }
      columns[2 * i] = CellUtil.cloneFamily(cell);
      columns[2 * i + 1] = CellUtil.cloneQualifier(cell);
      if (
        i > 0 && Arrays.equals(columns[2 * i - 2], columns[2 * i])
          && Arrays.equals(columns[2 * i - 1], columns[2 * i + 1])
      ) {
        return null;
      }
    }
    return columns.length == 0
      ? null
      : new CounterKey(increment, columns, attributes(increment));
  }

  /** Returns the increment's cells by family and qualifier, which is the order of a result. */
  private static List<Cell> cells(Increment increment) {
    List<Cell> cells = new ArrayList<>(increment.size());
    for (List<Cell> family : increment.getFamilyCellMap().values()) {
      int from = cells.size();
      cells.addAll(family);
      if (family.size() > 1) {
        cells.subList(from, cells.size()).sort(BY_QUALIFIER);
      }
    }
    return cells;
  }

  /** Returns the amounts of an increment that has a key, in the order of a result. */
  static long[] amounts(Increment increment) {
    List<Cell> cells = cells(increment);
    long[] amounts = new long[cells.size()];
    for (int i = 0; i < amounts.length; i++) {
      amounts[i] = PrivateCellUtil.getValueAsLong(cells.get(i));
    }
    return amounts;
  }

  /** Returns an increment of the row with this key that adds these amounts and returns results. */
  Increment increment(long[] amounts) throws IOException {
    Increment increment = new Increment(first.getRow());
    for (int i = 0; i < amounts.length; i++) {
      increment.addColumn(columns[2 * i], columns[2 * i + 1], amounts[i]);
    }
    TimeRange range = first.getTimeRange();
    increment.setTimeRange(range.getMin(), range.getMax());
    increment.setDurability(first.getDurability());
    attributes.forEach(increment::setAttribute);
    return increment;
  }

  @Override
  public int hashCode() {
    return hash;
  }

  @Override
  public boolean equals(Object other) {
    if (!(other instanceof CounterKey)) {
      return false;
    }
    CounterKey that = (CounterKey) other;
    return hash == that.hash && Arrays.deepEquals(columns, that.columns)
      && first.getDurability() == that.first.getDurability()
      && sameRange(first.getTimeRange(), that.first.getTimeRange())
      && sameAttributes(attributes, that.attributes);
  }

  /** Copies the attributes, but for the one that says whether its caller wants results. */
  private static Map<String, byte[]> attributes(Increment increment) {
    Map<String, byte[]> all = increment.getAttributesMap();
    if (all.isEmpty()) {
      return all;
    }
    Map<String, byte[]> others = new HashMap<>(all);
    others.remove(RETURN_RESULTS);
    return others;
  }

  private static boolean sameRange(TimeRange a, TimeRange b) {
    return a.getMin() == b.getMin() && a.getMax() == b.getMax();
  }

  private static boolean sameAttributes(Map<String, byte[]> a, Map<String, byte[]> b) {
    return a.size() == b.size() && a.entrySet().stream()
      .allMatch(attribute -> Arrays.equals(attribute.getValue(), b.get(attribute.getKey())));
  }
}
