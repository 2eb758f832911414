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
package org.apache.hadoop.hbase.io.hfile.segment;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Says that a file was dropped: what segments that were opened before a sequence number have of it
 * is not to come back. Made before the file is dropped; complete after that, when the sequence
 * number is known. Thread-safe.
 */
@InterfaceAudience.Private
final class Tombstone {
  /** Covers all segments. */
  static final long ALL = Long.MAX_VALUE;

  private final long nameHash;
  private volatile long sequence = ALL;
  private volatile long number = Long.MAX_VALUE;

  Tombstone(long nameHash) {
    this.nameHash = nameHash;
  }

  /** As {@link CachedFile#hashHigh}. */
  long nameHash() {
    return nameHash;
  }

  /** The first sequence number of which nothing was dropped; {@link #ALL} if not known yet. */
  long sequence() {
    return sequence;
  }

  /** Its number among those of the store, from 1 on; the largest there is if not known yet. */
  long number() {
    return number;
  }

  /** The file was dropped. */
  void complete(long firstSequence, long newNumber) {
    sequence = firstSequence;
    number = newNumber;
  }
}
