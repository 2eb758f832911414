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

/**
 * Applies an exported patch as {@code git apply} does: the lines of context must match, but may
 * stand some lines away from where the patch says. A new file that is there already with the same
 * content stays, as with {@code git am -3}: patches may share a test source.
 */
public final class ContextApplier {

  private ContextApplier() {
  }

  /**
   * Applies all edits.
   * @param name    the patch's name for messages
   * @param content the patch, with or without an e-mail's head
   * @param tree    content by path; changed in place
   * @return the path of the first file that the patch does not fit, {@code null} if it applied
   */
  public static String apply(String name, byte[] content, SortedMap<String, byte[]> tree) {
    for (FileEdit edit : new DiffParser(name, true).parseBelowHead(content)) {
      byte[] before = edit.oldPath() == null ? new byte[0] : tree.get(edit.oldPath());
      byte[] after = before == null ? null : apply(edit.hunks(), before);
      boolean taken = edit.newPath() != null && !edit.newPath().equals(edit.oldPath())
        && tree.containsKey(edit.newPath());
      if (taken && edit.oldPath() == null && Arrays.equals(after, tree.get(edit.newPath()))) {
        continue;
      }
      if (after == null || taken || edit.newPath() == null && after.length > 0) {
        return edit.path();
      }
      if (edit.oldPath() != null) {
        tree.remove(edit.oldPath());
      }
      if (edit.newPath() != null) {
        tree.put(edit.newPath(), after);
      }
    }
    return null;
  }

  private static byte[] apply(List<Hunk> hunks, byte[] before) {
    List<byte[]> from = Lines.split(before);
    List<byte[]> to = new ArrayList<>();
    int done = 0;
    int offset = 0;
    for (Hunk hunk : hunks) {
      int start = find(hunk, from, done, hunk.oldIndex() + offset);
      if (start < 0) {
        return null;
      }
      offset = start - hunk.oldIndex();
      to.addAll(from.subList(done, start));
      to.addAll(hunk.newLines());
      done = start + hunk.oldLines().size();
    }
    to.addAll(from.subList(done, from.size()));
    return Lines.join(to);
  }

  /** Returns the place nearest to {@code expected} where the old lines stand, -1 if none. */
  private static int find(Hunk hunk, List<byte[]> from, int first, int expected) {
    int last = from.size() - hunk.oldLines().size();
    for (int distance = 0; distance <= from.size(); distance++) {
      for (int at : new int[] { expected - distance, expected + distance }) {
        if (at >= first && at <= last && matches(hunk.oldLines(), from, at)) {
          return at;
        }
      }
    }
    return -1;
  }

  private static boolean matches(List<byte[]> lines, List<byte[]> from, int at) {
    for (int i = 0; i < lines.size(); i++) {
      if (!Arrays.equals(lines.get(i), from.get(at + i))) {
        return false;
      }
    }
    return true;
  }
}
