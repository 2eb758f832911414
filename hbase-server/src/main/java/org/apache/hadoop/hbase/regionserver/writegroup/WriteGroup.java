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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.yetus.audience.InterfaceAudience;

/** Writes that are applied as one: one edit, with all their rows. For the thread that leads. */
@InterfaceAudience.Private
public abstract class WriteGroup {
  private final List<PendingWrite> members;
  private boolean appended;
  private boolean wouldWait;

  /** @param members in their order */
  protected WriteGroup(List<PendingWrite> members) {
    this.members = members;
  }

  protected final List<PendingWrite> members() {
    return members;
  }

  public final int size() {
    return members.size();
  }

  /** Returns how many rows are written. */
  public abstract int rows();

  /** Returns how many members are nested calls. */
  public final int calls() {
    int calls = 0;
    for (PendingWrite member : members) {
      if (member.isNested()) {
        calls++;
      }
    }
    return calls;
  }

  /** Returns whether the group fails, before its append, if its region is locked. */
  protected boolean triesLocks() {
    return false;
  }

  /**
   * Applies the writes of all members, with one edit that has all their nonces.
   * @param nested      whether the thread holds the locks of other regions
   * @param afterAppend called once the edit is appended, before the thread waits for its sync
   */
  final void run(HRegion region, boolean nested, Runnable afterAppend) throws IOException {
    GroupAppend append =
      GroupAppend.begin(members, triesLocks(), triesLocks() && nested, afterAppend);
    try {
      apply(region);
    } finally {
      appended = append.isBegun();
      wouldWait = append.wouldWait();
      append.end();
    }
  }

  /** Applies the writes of all members, with one edit or none. */
  protected abstract void apply(HRegion region) throws IOException;

  /** Returns whether the edit may have reached the WAL. A failure before that changed nothing. */
  final boolean appended() {
    return appended;
  }

  /** Returns whether it changed nothing as it would have waited for the flush of its region. */
  final boolean wouldWait() {
    return wouldWait;
  }

  /** Completes all members, after they were applied. */
  protected abstract void done();

  /**
   * Completes the members that are not complete yet: they have failed if the edit may have reached
   * the WAL, and are applied alone otherwise.
   */
  static void failed(List<PendingWrite> members, boolean appended, Throwable failure) {
    for (PendingWrite member : members) {
      if (member.state() == State.DONE || member.state() == State.ALONE) {
        continue;
      }
      if (appended) {
        member.failed(failure);
      } else {
        member.setState(State.ALONE);
      }
    }
  }
}
