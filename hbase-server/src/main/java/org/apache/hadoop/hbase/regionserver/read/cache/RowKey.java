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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.util.Arrays;
import java.util.Map;
import java.util.NavigableSet;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The row, families and columns that a get reads, as bytes. Gets that read the same in a region
 * have equal keys. Reused; not thread-safe.
 */
@InterfaceAudience.Private
final class RowKey {
  static final int MAX_LENGTH = Short.MAX_VALUE;

  private byte[] bytes = new byte[128];
  private int length;
  private int rowHash;
  private int hash;

  /**
   * Sets the key to that of a get.
   * @return false if it is too long to be cached
   */
  boolean set(Get get, int region) {
    length = 0;
    byte[] row = get.getRow();
    rowHash = RowHash.of(row, 0, row.length);
    add(row);
    for (Map.Entry<byte[], NavigableSet<byte[]>> family : get.getFamilyMap().entrySet()) {
      add(family.getKey());
      NavigableSet<byte[]> columns = family.getValue();
      addInt(columns == null ? 0 : columns.size());
      if (columns != null) {
        for (byte[] column : columns) {
          add(column);
        }
      }
      if (length > MAX_LENGTH) {
        return false;
      }
    }
    hash = RowHash.of(RowHash.of(bytes, 0, length), region);
    return length <= MAX_LENGTH;
  }

  private void add(byte[] part) {
    addInt(part.length);
    require(part.length);
    System.arraycopy(part, 0, bytes, length, part.length);
    length += part.length;
  }

  private void addInt(int value) {
    require(Integer.BYTES);
    length = Bytes.putInt(bytes, length, value);
  }

  private void require(int more) {
    if (length + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + more));
    }
  }

  byte[] bytes() {
    return bytes;
  }

  int length() {
    return length;
  }

  /** Returns the hash of the row alone. */
  int rowHash() {
    return rowHash;
  }

  /** Returns the hash of the whole key and the region. */
  int hash() {
    return hash;
  }
}
