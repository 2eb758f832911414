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
import org.eclipse.jgit.diff.DiffAlgorithm;
import org.eclipse.jgit.diff.RawText;
import org.eclipse.jgit.diff.RawTextComparator;
import org.eclipse.jgit.merge.ContentMergeStrategy;
import org.eclipse.jgit.merge.MergeAlgorithm;
import org.eclipse.jgit.merge.MergeChunk;
import org.eclipse.jgit.merge.MergeFormatter;
import org.eclipse.jgit.merge.MergeResult;

/**
 * A three-way merge of one file's lines, as git does it.
 * @param content  the merged file, with conflict markers where the sides disagree
 * @param conflict whether they do
 */
public record ContentMerge(byte[] content, boolean conflict) {

  /** How a line begins that opens a conflict. */
  public static final String MARKER = "<<<<<<< ";

  /**
   * Merges.
   * @param base       the common ancestor
   * @param ours       the side that the change is brought to
   * @param theirs     the changed file
   * @param oursName   the name of our side in conflict markers
   * @param theirsName the name of their side in conflict markers
   */
  static ContentMerge of(byte[] base, byte[] ours, byte[] theirs, String oursName,
    String theirsName) {
    if (RawText.isBinary(base) || RawText.isBinary(ours) || RawText.isBinary(theirs)) {
      return new ContentMerge(ours, true);
    }
    MergeResult<RawText> result = algorithm().merge(RawTextComparator.DEFAULT, new RawText(base),
      new RawText(ours), new RawText(theirs));
    return new ContentMerge(text(result, oursName, theirsName), result.containsConflicts());
  }

  /** Returns the lines of {@code ours}, from 1, at which a merge is in conflict, none if clean. */
  public static List<Integer> conflicts(byte[] base, byte[] ours, byte[] theirs) {
    List<Integer> lines = new ArrayList<>();
    for (MergeChunk chunk : algorithm().merge(RawTextComparator.DEFAULT, new RawText(base),
      new RawText(ours), new RawText(theirs))) {
      if (chunk.getConflictState() == MergeChunk.ConflictState.FIRST_CONFLICTING_RANGE) {
        lines.add(chunk.getBegin() + 1);
      }
    }
    return lines;
  }

  /** Merges, with the lines of {@code theirs} wherever the sides disagree. */
  public static byte[] preferTheirs(byte[] base, byte[] ours, byte[] theirs) {
    MergeAlgorithm algorithm = algorithm();
    algorithm.setContentMergeStrategy(ContentMergeStrategy.THEIRS);
    return text(algorithm.merge(RawTextComparator.DEFAULT, new RawText(base), new RawText(ours),
      new RawText(theirs)), "ours", "theirs");
  }

  private static MergeAlgorithm algorithm() {
    return new MergeAlgorithm(
      DiffAlgorithm.getAlgorithm(DiffAlgorithm.SupportedAlgorithm.HISTOGRAM));
  }

  private static byte[] text(MergeResult<RawText> result, String oursName, String theirsName) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      new MergeFormatter().formatMerge(out, result, List.of("base", oursName, theirsName),
        StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // The stream is in memory.
    }
    return out.toByteArray();
  }

  /** Returns whether a line of {@code content} opens a conflict. */
  public static boolean isUnfinished(byte[] content) {
    byte[] marker = MARKER.getBytes(StandardCharsets.US_ASCII);
    for (int start = 0; start + marker.length <= content.length; start++) {
      if (
        (start == 0 || content[start - 1] == '\n') && Arrays.equals(content, start,
          start + marker.length, marker, 0, marker.length)
      ) {
        return true;
      }
    }
    return false;
  }
}
