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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Records that a file was dropped: its blocks in segments that were opened before a sequence number
 * must not be recovered. Created before the file is dropped; complete after that, when the sequence
 * number is known. Thread-safe.
 */
@InterfaceAudience.Private
public final class Tombstone {
  /** Sequence number that covers all segments. */
  public static final long ALL = Long.MAX_VALUE;

  private final long nameHash;
  private volatile long sequence = ALL;
  private volatile long number = Long.MAX_VALUE;

  public Tombstone(long nameHash) {
    this.nameHash = nameHash;
  }

  /** Returns {@code CachedFile.hashHigh} of the file. */
  public long nameHash() {
    return nameHash;
  }

  /**
   * Returns the first sequence number whose segments have no dropped block of the file;
   * {@link #ALL} if not known yet.
   */
  long sequence() {
    return sequence;
  }

  /**
   * Returns its number among those of the store, 1 or more; {@link Long#MAX_VALUE} if not known
   * yet.
   */
  public long number() {
    return number;
  }

  /** Completes the tombstone after the file was dropped. */
  public void complete(long firstSequence, long newNumber) {
    sequence = firstSequence;
    number = newNumber;
  }
}
