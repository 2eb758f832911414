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

import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Get;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Rows of a region as gets have returned them. A {@link PointGet} looks its row up here before it
 * reads, and leaves here what it has read, both while it holds the region's lock. Thread-safe.
 */
@InterfaceAudience.Private
public interface RowLookup {

  /**
   * Returns whether a get that needs no scanner may be answered from here now or later, with the
   * coprocessors that the region has now.
   */
  boolean serves(Get get);

  /** Counts a get of which {@link #serves} is false. */
  void countBypassed();

  /**
   * Adds the cells of a get if they are here.
   * @param waits whether to wait for another thread that looks up or inserts a row
   */
  boolean get(Get get, boolean waits, List<Cell> results);

  /** Counts a lookup, once for each get. */
  void countLookup(boolean hit);

  /**
   * Takes the cells that a get has returned at a read point.
   * @param since the time before which they are not valid, in milliseconds since the epoch
   * @param waits whether to wait for another thread that looks up or inserts a row
   */
  void put(Get get, long readPoint, long since, boolean waits, List<Cell> results);
}
