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
package dev.stratum.fork.series;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;

/** Brings the changes of a patch to a tree that they were not made on. */
public final class TreeMerge {

  /** One file in which the change and the tree disagree; the sides are {@code null} if absent. */
  public record Conflict(String path, String reason, byte[] base, byte[] ours, byte[] theirs) {
  }

  private final SortedMap<String, byte[]> tree;
  private final String oursName;
  private final String theirsName;
  private final List<Conflict> conflicts = new ArrayList<>();

  /**
   * @param tree       content by path; changed in place
   * @param oursName   what the tree is called in conflict markers
   * @param theirsName what the patch is called in conflict markers
   */
  public TreeMerge(SortedMap<String, byte[]> tree, String oursName, String theirsName) {
    this.tree = tree;
    this.oursName = oursName;
    this.theirsName = theirsName;
  }

  /**
   * Applies {@code changes}. Files in conflict are left in the tree with conflict markers, or as
   * they are where one side lacks the file.
   * @return the conflicts, none if the merge is clean
   */
  public List<Conflict> apply(List<FileChange> changes) {
    for (FileChange change : changes) {
      apply(change);
    }
    return conflicts;
  }

  /**
   * Leaves the files in conflict with the lines of the changes wherever the sides disagree, so that
   * changes that are made after them meet none of their conflicts.
   */
  public void settle() {
    for (Conflict conflict : conflicts) {
      if (conflict.ours() == null) {
        tree.remove(conflict.path());
      } else if (conflict.base() != null && conflict.theirs() != null) {
        tree.put(conflict.path(),
          ContentMerge.preferTheirs(conflict.base(), conflict.ours(), conflict.theirs()));
      }
    }
  }

  private void apply(FileChange change) {
    byte[] ours = change.oldPath() == null ? null : tree.get(change.oldPath());
    boolean moves = change.newPath() != null && !change.newPath().equals(change.oldPath());
    if (moves && tree.containsKey(change.newPath())) {
      byte[] there = tree.get(change.newPath());
      if (change.oldPath() != null || !Arrays.equals(there, change.after())) {
        conflict(change, "exists already", there);
        if (change.oldPath() == null) {
          tree.put(change.newPath(), change.after());
        }
      }
    } else if (change.oldPath() == null) {
      tree.put(change.newPath(), change.after());
    } else if (ours == null) {
      if (change.newPath() != null) {
        conflict(change, "does not exist", null);
      }
    } else if (change.newPath() == null) {
      if (Arrays.equals(ours, change.before())) {
        tree.remove(change.oldPath());
      } else {
        conflict(change, "is deleted here and changed there", ours);
      }
    } else {
      merge(change, ours);
    }
  }

  private void merge(FileChange change, byte[] ours) {
    byte[] merged;
    if (Arrays.equals(ours, change.before())) {
      merged = change.after();
    } else if (Arrays.equals(change.after(), change.before())) {
      merged = ours;
    } else if (Arrays.equals(ours, change.after())) {
      merged = ours;
    } else {
      ContentMerge result =
        ContentMerge.of(change.before(), ours, change.after(), oursName, theirsName);
      merged = result.content();
      if (result.conflict()) {
        conflict(change, "is changed in the same lines", ours);
      }
    }
    tree.remove(change.oldPath());
    tree.put(change.newPath(), merged);
  }

  private void conflict(FileChange change, String reason, byte[] ours) {
    conflicts.add(new Conflict(change.path(), reason, change.before(), ours, change.after()));
  }
}
