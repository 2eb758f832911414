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
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the words that only this repository uses, and which an export must not have. */
public final class ProjectWords {
  private static final Pattern WORDS =
    Pattern.compile("(?i)stratum|\\bth(?:e|is) fork\\b|\\bfork(?:ed)? build\\b");

  /**
   * One occurrence.
   * @param path the file
   * @param line its line, from 1
   * @param word the word
   */
  public record Found(String path, int line, String word) {
    @Override
    public String toString() {
      return path + ":" + line + ": " + word;
    }
  }

  private ProjectWords() {
  }

  /**
   * Returns the occurrences in lines that a patch brings, and in names of files that it adds.
   * @param before the tree before the patch, by repository path
   * @param after  the exported tree
   */
  public static List<Found> in(SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
    List<Found> found = new ArrayList<>();
    for (Map.Entry<String, byte[]> file : after.entrySet()) {
      String path = file.getKey();
      byte[] old = before.get(path);
      if (!Arrays.equals(old, file.getValue())) {
        if (old == null) {
          find(path, 1, path.substring(path.lastIndexOf('/') + 1), found);
        }
        String text = JavaText.text(file.getValue());
        for (LineDiff.Hunk hunk : LineDiff.between(old == null ? "" : JavaText.text(old), text)) {
          int line = hunk.newStart() + 1;
          for (String one : JavaText.lines(hunk.newText())) {
            find(path, line++, one, found);
          }
        }
      }
    }
    return found;
  }

  /** Returns the occurrences in a text, such as a commit's message. */
  public static List<Found> inText(String path, String text) {
    List<Found> found = new ArrayList<>();
    int line = 1;
    for (String one : JavaText.lines(text)) {
      find(path, line++, one, found);
    }
    return found;
  }

  private static void find(String path, int line, String text, List<Found> found) {
    for (Matcher matcher = WORDS.matcher(text); matcher.find();) {
      found.add(new Found(path, line, matcher.group()));
    }
  }
}
