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
package org.apache.hadoop.hbase.io.hfile.block;

import java.util.Arrays;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Positions of a few cells of a block in memory, one of every {@value #STEP} bytes, among which a
 * seek searches by their rows. Takes 16 bytes of heap and 4 for each sample, a thousandth of the
 * block. Immutable and thread-safe.
 */
@InterfaceAudience.Private
public final class RowSamples {
  /** The samples of a block whose cells cannot be read. */
  static final RowSamples NONE = new RowSamples(new int[0]);

  private static final int STEP = 4096;

  private final int[] positions;

  private RowSamples(int[] positions) {
    this.positions = positions;
  }

  /** Selects one cell a step. Not thread-safe. */
  static final class Builder {
    private final int[] positions;
    private int count;

    /** @param size of the block's data in bytes */
    Builder(int size) {
      positions = new int[size / STEP];
    }

    /** @param position of the next cell */
    void add(int position) {
      // The first cell needs no sample: each seek begins there.
      if (count < positions.length && position >= (count + 1) * STEP) {
        positions[count++] = position;
      }
    }

    RowSamples build() {
      return new RowSamples(Arrays.copyOf(positions, count));
    }
  }

  int count() {
    return positions.length;
  }

  /** Returns the position of a sample, in ascending order. */
  int position(int sample) {
    return positions[sample];
  }
}
