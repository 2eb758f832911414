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
package org.apache.hadoop.hbase.regionserver.read;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The row of a get that a thread has read before it runs the call, which takes it instead of
 * reading. Counts as read when it is taken. Used by one thread.
 */
@InterfaceAudience.Private
public final class PreparedRow implements Closeable {
  private static final ThreadLocal<PreparedRow> CURRENT = new ThreadLocal<>();
  /** Whether any thread has prepared a row: other servers look at no thread's. */
  private static volatile boolean used;

  private final HRegion region;
  private final List<Cell> cells;
  private final Closeable held;
  private final Runnable count;
  private boolean taken;

  /**
   * @param held  holds the cells
   * @param count counts the read, when it is taken
   */
  PreparedRow(HRegion region, List<Cell> cells, Closeable held, Runnable count) {
    this.region = region;
    this.cells = cells;
    this.held = held;
    this.count = count;
  }

  /** Lets the next get of this thread in the region take the row. */
  public static void offer(PreparedRow row) {
    used = true;
    CURRENT.set(row);
  }

  /**
   * Adds the cells of the row that is offered to this thread.
   * @return what holds them, to be closed by the caller; null if there is none
   */
  public static Closeable take(HRegion region, List<Cell> results) {
    PreparedRow row = used ? CURRENT.get() : null;
    if (row == null || row.taken || row.region != region) {
      return null;
    }
    results.addAll(row.cells);
    row.count.run();
    // This is last: if anything fails before, close() gives back what the row is in.
    row.taken = true;
    return row.held;
  }

  /** Ends the offer. Gives back what the row is in unless it was taken. */
  @Override
  public void close() {
    CURRENT.remove();
    if (!taken) {
      try {
        held.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
