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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import org.eclipse.jgit.diff.DiffAlgorithm;
import org.eclipse.jgit.diff.RawText;
import org.eclipse.jgit.diff.RawTextComparator;
import org.eclipse.jgit.merge.ContentMergeStrategy;
import org.eclipse.jgit.merge.MergeAlgorithm;
import org.eclipse.jgit.merge.MergeChunk;
import org.eclipse.jgit.merge.MergeFormatter;
import org.eclipse.jgit.merge.MergeResult;

/** Merges the changes of a patch three ways into a tree that they were not made on. */
public final class TreeMerge {
  /** How a line begins that opens a conflict. */
  public static final String MARKER = "<<<<<<< ";

  /**
   * One file in which the change and the tree disagree.
   * @param change the change
   * @param ours   the tree's content, {@code null} if it lacks the file
   * @param reason why they disagree
   */
  public record Conflict(FileChange change, byte[] ours, String reason) {

    /** Returns the path of the file. */
    public String path() {
      return change.path();
    }

    /** Returns the positions in conflict: lines of the tree's file, or the reason. */
    public List<String> positions() {
      List<String> positions = new ArrayList<>();
      if (isOfLines()) {
        for (MergeChunk chunk : merge(change, ours, ContentMergeStrategy.CONFLICT)) {
          if (chunk.getConflictState() == MergeChunk.ConflictState.FIRST_CONFLICTING_RANGE) {
            positions.add(path() + ":" + (chunk.getBegin() + 1));
          }
        }
      }
      return positions.isEmpty() ? List.of(path() + " (" + reason + ")") : positions;
    }

    private boolean isOfLines() {
      return change.before() != null && ours != null && change.after() != null;
    }

    @Override
    public String toString() {
      return path() + " " + reason;
    }
  }

  private final SortedMap<String, byte[]> tree;
  private final List<String> names;
  private final List<Conflict> conflicts = new ArrayList<>();

  public TreeMerge(SortedMap<String, byte[]> tree, String oursName, String theirsName) {
    this.tree = tree;
    names = List.of("base", oursName, theirsName);
  }

  /**
   * Applies {@code changes}. Files in conflict are left in the tree with conflict markers, or as
   * they are where one side lacks the file.
   * @return the conflicts, none if the merge is clean
   */
  public List<Conflict> apply(List<FileChange> changes) {
    for (FileChange change : changes) {
      byte[] ours = tree.get(change.path());
      if (Arrays.equals(ours, change.before())) {
        put(change.path(), change.after());
      } else if (Arrays.equals(ours, change.after())
        || Arrays.equals(change.before(), change.after())) {
        continue;
      } else if (change.before() == null) {
        conflicts.add(new Conflict(change, ours, "exists already"));
        put(change.path(), change.after());
      } else if (ours == null) {
        conflicts.add(new Conflict(change, null, "does not exist"));
      } else if (change.after() == null) {
        conflicts.add(new Conflict(change, ours, "is deleted here and changed there"));
      } else {
        MergeResult<RawText> result = merge(change, ours, ContentMergeStrategy.CONFLICT);
        put(change.path(), text(result));
        if (result.containsConflicts()) {
          conflicts.add(new Conflict(change, ours, "is changed in the same lines"));
        }
      }
    }
    return conflicts;
  }

  /**
   * Leaves the files in conflict with the lines of the changes wherever the sides disagree, so that
   * changes that are made after them meet none of their conflicts.
   */
  public void settle() {
    for (Conflict conflict : conflicts) {
      if (conflict.isOfLines()) {
        put(conflict.path(),
          text(merge(conflict.change(), conflict.ours(), ContentMergeStrategy.THEIRS)));
      }
    }
  }

  private void put(String path, byte[] content) {
    if (content == null) {
      tree.remove(path);
    } else {
      tree.put(path, content);
    }
  }

  private static MergeResult<RawText> merge(FileChange change, byte[] ours,
    ContentMergeStrategy strategy) {
    MergeAlgorithm algorithm = new MergeAlgorithm(
      DiffAlgorithm.getAlgorithm(DiffAlgorithm.SupportedAlgorithm.HISTOGRAM));
    algorithm.setContentMergeStrategy(strategy);
    return algorithm.merge(RawTextComparator.DEFAULT, new RawText(change.before()),
      new RawText(ours), new RawText(change.after()));
  }

  private byte[] text(MergeResult<RawText> result) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      new MergeFormatter().formatMerge(out, result, names, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // The stream is in memory.
    }
    return out.toByteArray();
  }

  /** Returns whether a line of {@code content} opens a conflict. */
  public static boolean isUnfinished(byte[] content) {
    // Each byte is a character, whatever the encoding.
    return ("\n" + new String(content, StandardCharsets.ISO_8859_1)).contains("\n" + MARKER);
  }
}
