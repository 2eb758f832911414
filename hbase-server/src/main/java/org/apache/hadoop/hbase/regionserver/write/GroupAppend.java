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

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.util.NonceKey;
import org.apache.hadoop.hbase.wal.WALKey;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The append of an edit that has the writes of several calls. The nonces of all of them are written
 * with the edit: a WAL key has one nonce, which is that of the first call; the others are in an
 * extended attribute of the key, sixteen bytes each, so that a server that replays the edit has all
 * of them. A stock server ignores it.
 * <p>
 * The hooks in the base are static; they concern the group of the calling committer, and do nothing
 * in any other thread. An instance is for the thread that appends.
 */
@InterfaceAudience.Private
public final class GroupAppend {

  /** The name of the attribute: pairs of longs, group and nonce, of all but the first. */
  public static final String ATTRIBUTE = "increment.group.nonces";

  private static final int PAIR = 2 * Long.BYTES;

  private final NonceKey first;
  private final byte[] others;
  private final Runnable after;
  private boolean begun;

  /** @param after called once the edit is appended, before its sync; does not throw */
  public GroupAppend(List<WriteCall> writes, Runnable after) {
    NonceKey own = null;
    ByteBuffer pairs = ByteBuffer.allocate(writes.size() * PAIR);
    for (WriteCall write : writes) {
      if (write.nonce() == HConstants.NO_NONCE) {
        continue;
      }
      if (own == null) {
        own = new NonceKey(write.nonceGroup(), write.nonce());
      } else {
        pairs.putLong(write.nonceGroup()).putLong(write.nonce());
      }
    }
    first = own;
    others = new byte[pairs.position()];
    pairs.flip();
    pairs.get(others);
    this.after = after;
  }

  /**
   * Copies the cells of a mutation that are in the buffer of its request. The base retains the
   * buffer of the current call only, and a group is written while there is none.
   */
  public static void copyToHeap(Mutation mutation) {
    for (Map.Entry<byte[], List<Cell>> family : mutation.getFamilyCellMap().entrySet()) {
      family.getValue().replaceAll(cell -> cell instanceof ByteBufferExtendedCell
        ? KeyValueUtil.copyToNewKeyValue(cell)
        : cell);
    }
  }

  private static GroupAppend current() {
    CommitGroup group = Committer.group();
    return group == null ? null : group.append();
  }

  /** Returns whether the edit may have reached the WAL. A failure before that changed nothing. */
  public boolean isBegun() {
    return begun;
  }

  /**
   * Called when an edit is about to be appended.
   * @param own the nonce of the edit without this class
   * @return the nonce for the WAL key
   */
  public static NonceKey of(NonceKey own) {
    GroupAppend current = current();
    if (current == null) {
      return own;
    }
    current.begun = true;
    return current.first == null ? own : current.first;
  }

  /** Called when the edit is appended and its sync not yet requested. Does not throw. */
  public static void appended() {
    GroupAppend current = current();
    if (current != null) {
      current.after.run();
    }
  }

  /** Adds the nonces of all calls but the first to the key of the edit. */
  public static void addTo(WALKeyImpl key) {
    GroupAppend current = current();
    if (current != null && current.others.length > 0) {
      key.addExtendedAttribute(ATTRIBUTE, current.others);
    }
  }

  /** Reports to the nonce manager what {@link #addTo} added, when the edit is replayed. */
  public static void report(WALKey key, ServerNonceManager manager) {
    byte[] others = key.getExtendedAttribute(ATTRIBUTE);
    if (others == null) {
      return;
    }
    ByteBuffer pairs = ByteBuffer.wrap(others);
    while (pairs.remaining() >= PAIR) {
      manager.reportOperationFromWal(pairs.getLong(), pairs.getLong(), key.getWriteTime());
    }
  }
}
