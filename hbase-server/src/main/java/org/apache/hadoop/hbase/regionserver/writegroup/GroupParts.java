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

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The parts of a group, one for each region. Each part is appended within the append of the one
 * before: all edits are in the WAL when the thread waits for the sync of the last one, which is
 * that of all. A part that fails leaves the others as they are.
 * <p>
 * Invariant: a thread that holds locks of a region waits for no lock of another one, and while it
 * waits for earlier sequence ids of a region, its own incomplete ones are of regions that come
 * before that; so two groups never wait for each other, nor a group and a flush. A part whose
 * region begins a flush is applied by itself, after the others.
 * <p>
 * For the thread that leads.
 */
@InterfaceAudience.Private
final class GroupParts {

  /** The part of a region. */
  private static final class Part {
    private final HRegion region;
    private final List<PendingWrite> members = new ArrayList<>();
    /** Null until it was tried. */
    private WriteGroup group;
    /** Its first group, if that met the begin of a flush; null otherwise. */
    private WriteGroup refused;
    private Throwable failure;

    private Part(HRegion region) {
      this.region = region;
    }

    private void apply(GroupKey key, boolean nested, Runnable afterAppend) {
      failure = null;
      group = null;
      try {
        group = key.group(members);
        group.run(region, nested, afterAppend);
        group.done();
      } catch (Throwable e) {
        failure = e;
      }
    }

    private boolean isAppended() {
      return group != null && group.appended();
    }

    private boolean wouldWait() {
      return failure != null && group != null && group.wouldWait();
    }
  }

  private final GroupKey key;
  private final List<Part> parts = new ArrayList<>(1);
  private final Runnable afterAppend;
  private int next;
  private boolean passed;

  /**
   * @param members     of a group, in their order
   * @param afterAppend called once all parts are appended or have failed, before the sync of those
   *                    that are appended; not called if none is
   */
  GroupParts(GroupKey key, List<PendingWrite> members, Runnable afterAppend) {
    this.key = key;
    this.afterAppend = afterAppend;
    for (PendingWrite member : members) {
      part(member.region()).members.add(member);
    }
    if (parts.size() > 1) {
      parts.sort((a, b) -> a.region.getRegionInfo().compareTo(b.region.getRegionInfo()));
    }
  }

  private Part part(HRegion region) {
    for (Part part : parts) {
      if (part.region == region) {
        return part;
      }
    }
    Part part = new Part(region);
    parts.add(part);
    return part;
  }

  /** Applies all parts, and completes their members. */
  void apply() {
    applyNext(false);
    for (Part part : parts) {
      if (part.wouldWait()) {
        part.refused = part.group;
        part.apply(key, false, this::appended);
      }
      if (part.failure != null) {
        WriteGroup.failed(part.members, part.isAppended(), part.failure);
      }
    }
  }

  /** Applies the parts that were not tried, up to the first one that is appended. */
  private void applyNext(boolean nested) {
    while (next < parts.size()) {
      parts.get(next++).apply(key, nested, this::appended);
    }
  }

  /** Called within the append of a part. Does not throw: the edit has a place in the WAL. */
  private void appended() {
    applyNext(true);
    if (!passed) {
      passed = true;
      afterAppend.run();
    }
  }

  /** Completes members that {@link #apply} has not completed, as it was cut short. */
  void fail(Throwable failure) {
    for (Part part : parts) {
      WriteGroup.failed(part.members, part.isAppended(), failure);
    }
  }

  /** Returns the first error of a part that is no exception, or null. */
  Error error() {
    for (Part part : parts) {
      if (part.failure instanceof Error) {
        return (Error) part.failure;
      }
    }
    return null;
  }

  /** Counts the group in the metrics of its kind, and each part in those of its region. */
  void count(WriteKind kind) {
    int size = 0;
    int calls = 0;
    int applied = 0;
    for (Part part : parts) {
      if (part.refused != null) {
        kind.count(part.region, part.refused);
      }
      if (part.failure == null) {
        applied++;
        size += part.group.size();
        calls += part.group.calls();
        kind.count(part.region, part.group);
      } else if (!part.isAppended()) {
        kind.metrics().failedGroup();
      }
    }
    if (size == 1 && calls == 0 && kind.groupsRegions()) {
      kind.metrics().single();
    } else if (applied > 0) {
      kind.metrics().group(size, calls, applied);
    }
  }

  @Override
  public String toString() {
    return key + " and " + (parts.size() - 1) + " more regions";
  }
}
