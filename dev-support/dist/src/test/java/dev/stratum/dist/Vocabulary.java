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
package dev.stratum.dist;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Words not to use, as src/main/vocabulary/words.txt lists them. Immutable. */
final class Vocabulary {
  private static final Pattern LINE =
    Pattern.compile("(?<mark>\\?\\s*+\\d*+)?+\\s*(?<forms>[^|?\\s][^|?]*?)\\s*"
      + "\\|\\s*(?<remedy>[^|]+)");

  private final List<Word> words;

  private Vocabulary(List<Word> words) {
    this.words = words;
  }

  /**
   * A word or phrase not to use.
   * @param first  the first of its forms
   * @param remedy what to say instead
   * @param fails  whether the build fails if it is used
   */
  record Word(String first, Pattern pattern, String remedy, boolean fails) {
  }

  /** Where a word is used; {@code line} counts from 1. */
  record Use(String file, int line, String text, Word word) {
    @Override
    public String toString() {
      return file + ":" + line + " '" + text + "', say: " + word.remedy();
    }
  }

  /**
   * Reads a list.
   * @throws IllegalArgumentException if a line is no entry, or a form is there twice
   */
  static Vocabulary parse(List<String> lines) {
    List<Word> words = new ArrayList<>();
    Set<String> known = new HashSet<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      Matcher entry = LINE.matcher(line);
      if (!entry.matches()) {
        throw new IllegalArgumentException("line " + (i + 1) + " is no 'word, word | remedy', with "
          + "'? count' before it or without: " + line);
      }
      List<String> forms = Arrays.asList(entry.group("forms").split("\\s*,\\s*"));
      for (String form : forms) {
        if (!known.add(form.toLowerCase(Locale.ROOT))) {
          throw new IllegalArgumentException("line " + (i + 1) + " has '" + form + "' again");
        }
      }
      words.add(new Word(forms.get(0), pattern(forms), entry.group("remedy").strip(),
        entry.group("mark") == null));
    }
    return new Vocabulary(List.copyOf(words));
  }

  /** Whole words in any case; {@code turn()}, {@code x.turn} and {@code turn_} are names. */
  private static Pattern pattern(List<String> forms) {
    return Pattern.compile(forms.stream()
      .map(form -> Arrays.stream(form.split("\\s+")).map(Pattern::quote)
        .collect(Collectors.joining("\\s+")))
      .collect(Collectors.joining("|", "(?<![\\w.#$])(?:", ")(?![\\w(])")),
      Pattern.CASE_INSENSITIVE);
  }

  List<Word> words() {
    return words;
  }

  /** Returns each use of a word in the prose of a file, by line. */
  List<Use> uses(String file, String prose) {
    int[] ends = IntStream.range(0, prose.length()).filter(i -> prose.charAt(i) == '\n').toArray();
    List<Use> uses = new ArrayList<>();
    for (Word word : words) {
      Matcher use = word.pattern().matcher(prose);
      while (use.find()) {
        int line = -Arrays.binarySearch(ends, use.start());
        uses.add(new Use(file, line, use.group().replaceAll("\\s+", " "), word));
      }
    }
    uses.sort(Comparator.comparingInt(Use::line));
    return uses;
  }
}
