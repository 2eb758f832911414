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
package dev.stratum.fork.style;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.jgit.diff.Edit;
import org.eclipse.jgit.diff.HistogramDiff;
import org.eclipse.jgit.diff.RawText;
import org.eclipse.jgit.diff.RawTextComparator;

/** The lines in which two texts differ. */
final class LineDiff {

  /**
   * One difference. Lines are counted from 0, ends are exclusive.
   * @param oldStart the first line of the old text
   * @param oldEnd   the line after the last one of the old text
   * @param newStart the first line of the new text
   * @param newEnd   the line after the last one of the new text
   * @param oldText  the lines of the old text
   * @param newText  the lines of the new text
   */
  record Hunk(int oldStart, int oldEnd, int newStart, int newEnd, String oldText,
    String newText) {
  }

  private LineDiff() {
  }

  /** Returns the differences, in order. */
  static List<Hunk> between(String oldText, String newText) {
    RawText old = new RawText(JavaText.bytes(oldText));
    RawText now = new RawText(JavaText.bytes(newText));
    List<Hunk> hunks = new ArrayList<>();
    for (Edit edit : new HistogramDiff().diff(RawTextComparator.DEFAULT, old, now)) {
      hunks.add(new Hunk(edit.getBeginA(), edit.getEndA(), edit.getBeginB(), edit.getEndB(),
        old.getString(edit.getBeginA(), edit.getEndA(), false),
        now.getString(edit.getBeginB(), edit.getEndB(), false)));
    }
    return hunks;
  }

  /** Splits each difference that replaces lines by as many others. */
  static List<Hunk> byLine(List<Hunk> hunks) {
    List<Hunk> split = new ArrayList<>();
    for (Hunk hunk : hunks) {
      int lines = hunk.oldEnd() - hunk.oldStart();
      if (lines != hunk.newEnd() - hunk.newStart()) {
        split.add(hunk);
        continue;
      }
      List<String> oldLines = JavaText.lines(hunk.oldText());
      List<String> newLines = JavaText.lines(hunk.newText());
      for (int i = 0; i < lines; i++) {
        split.add(new Hunk(hunk.oldStart() + i, hunk.oldStart() + i + 1, hunk.newStart() + i,
          hunk.newStart() + i + 1, oldLines.get(i), newLines.get(i)));
      }
    }
    return split;
  }

  /** Returns {@code oldText} with some of its differences. */
  static String apply(String oldText, List<Hunk> hunks) {
    List<String> lines = JavaText.lines(oldText);
    StringBuilder text = new StringBuilder();
    int at = 0;
    for (Hunk hunk : hunks) {
      lines.subList(at, hunk.oldStart()).forEach(text::append);
      text.append(hunk.newText());
      at = hunk.oldEnd();
    }
    lines.subList(at, lines.size()).forEach(text::append);
    return text.toString();
  }
}
