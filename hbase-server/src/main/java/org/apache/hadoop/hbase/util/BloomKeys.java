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
package org.apache.hadoop.hbase.util;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The bytes of cells that a Bloom filter hashes, in an array: those of {@link RowBloomHashKey} and
 * {@link RowColBloomHashKey}. These read each byte through the cell, twice for the two hashes,
 * which for the cells of a memstore's chunk is slower than a copy. Not thread-safe.
 */
@InterfaceAudience.Private
class BloomKeys {
  private byte[] copy = new byte[Bytes.SIZEOF_LONG];

  /** Returns the key of a cell; it is valid until the next call. */
  ByteArrayHashKey of(Cell cell, BloomType type) {
    if (type == BloomType.ROWCOL) {
      return rowAndQualifier(cell);
    }
    if (cell instanceof KeyValue) {
      return new ByteArrayHashKey(cell.getRowArray(), cell.getRowOffset(), cell.getRowLength());
    }
    makeRoom(cell.getRowLength());
    CellUtil.copyRowTo(cell, copy, 0);
    return new ByteArrayHashKey(copy, 0, cell.getRowLength());
  }

  /** Returns the key of a cell without family, with the latest timestamp and highest type. */
  private ByteArrayHashKey rowAndQualifier(Cell cell) {
    int length = KeyValue.KEY_INFRASTRUCTURE_SIZE + cell.getRowLength() + cell.getQualifierLength();
    makeRoom(length);
    int end = Bytes.putShort(copy, 0, cell.getRowLength());
    end = CellUtil.copyRowTo(cell, copy, end);
    copy[end++] = 0;
    end = CellUtil.copyQualifierTo(cell, copy, end);
    end = Bytes.putLong(copy, end, HConstants.LATEST_TIMESTAMP);
    copy[end] = KeyValue.Type.Maximum.getCode();
    return new ByteArrayHashKey(copy, 0, length);
  }

  private void makeRoom(int length) {
    if (copy.length < length) {
      copy = new byte[Math.max(length, 2 * copy.length)];
    }
  }
}
