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

import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Keeps a block that moves between tiers from outliving the eviction of its file.
 * <p>
 * Evicting a file walks the tiers one after the other. A copy on its way from a tier that is still
 * to be walked to one that was walked already would be found in neither and stay behind for good:
 * the blocks of a closed file are not accessed again. So an eviction is announced before any tier
 * is walked and after all have been ({@link #evictionStarts}, {@link #evictionEnds}). The thread
 * that moves a block takes a stamp before it reads the source ({@link #moveStarts}) and, once the
 * copy is in the target, checks whether there was an eviction in between ({@link #undisturbed}); if
 * so, it evicts its own copy.
 * <p>
 * Why that is enough: an eviction that starts after the mover's last question finds the copy in the
 * target by itself, one that started earlier is seen by it, and none is in flight when the stamp is
 * taken. Files share a fixed number of counters by hash, so an eviction may disturb the move of
 * another file's block; that costs one cached copy. No method blocks or allocates; all are
 * thread-safe.
 */
@InterfaceAudience.Private
public final class FileEvictionGuard {

  /** What {@link #moveStarts} returns while an eviction is in flight: the block is not to move. */
  public static final long BUSY = -1;

  private static final int STRIPES = 1 << 10;

  private final AtomicLongArray started = new AtomicLongArray(STRIPES);
  private final AtomicLongArray ended = new AtomicLongArray(STRIPES);

  /** Announces an eviction of this file. Called before L1 is told to evict its blocks. */
  public void evictionStarts(String hfileName) {
    started.incrementAndGet(stripe(hfileName));
  }

  /** Ends an eviction. Called after the last tier was told, even if that failed. */
  public void evictionEnds(String hfileName) {
    ended.incrementAndGet(stripe(hfileName));
  }

  /**
   * Starts a move. Called before a block of this file is read from the tier it is copied from.
   * @return the stamp for {@link #undisturbed}, or {@link #BUSY}
   */
  public long moveStarts(String hfileName) {
    int stripe = stripe(hfileName);
    // The order matters: an eviction that starts between the two reads makes them differ, or is
    // seen at the end of the move.
    long stamp = started.get(stripe);
    return ended.get(stripe) == stamp ? stamp : BUSY;
  }

  /** Returns whether no eviction of the file started since {@link #moveStarts} gave the stamp. */
  public boolean undisturbed(String hfileName, long stamp) {
    return started.get(stripe(hfileName)) == stamp;
  }

  private static int stripe(String hfileName) {
    int h = hfileName.hashCode();
    return (h ^ (h >>> 16)) & (STRIPES - 1);
  }
}
