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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/** Memory that a {@link LendingTier} has lent. Immutable. */
@InterfaceAudience.Private
public final class LentMemory {
  private final ByteBuffer[] pages;
  private final long[] offsets;

  /**
   * @param pages   the memory, each page all of a buffer
   * @param offsets where the tier has it
   */
  public LentMemory(ByteBuffer[] pages, long[] offsets) {
    this.pages = pages;
    this.offsets = offsets;
  }

  /** Returns the memory, each page all of a buffer. */
  public ByteBuffer[] pages() {
    return pages;
  }

  /** Returns the offsets in the tier. */
  public long[] offsets() {
    return offsets;
  }
}
