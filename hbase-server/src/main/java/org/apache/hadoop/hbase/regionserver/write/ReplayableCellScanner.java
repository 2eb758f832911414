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
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScannable;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The cells of a request, read once, so that they can be looked at before the handler reads them.
 * Not thread-safe; each {@link #cellScanner()} is independent.
 */
@InterfaceAudience.Private
public final class ReplayableCellScanner implements CellScanner, CellScannable {

  private final List<Cell> cells;
  private int next;

  private ReplayableCellScanner(List<Cell> cells) {
    this.cells = cells;
  }

  /** Reads all cells; they are in the request's buffer still. */
  public static ReplayableCellScanner read(CellScanner scanner) throws IOException {
    List<Cell> cells = new ArrayList<>(1);
    while (scanner.advance()) {
      cells.add(scanner.current());
    }
    return new ReplayableCellScanner(cells);
  }

  @Override
  public CellScanner cellScanner() {
    return new ReplayableCellScanner(cells);
  }

  @Override
  public Cell current() {
    return next == 0 ? null : cells.get(next - 1);
  }

  @Override
  public boolean advance() {
    if (next == cells.size()) {
      return false;
    }
    next++;
    return true;
  }
}
