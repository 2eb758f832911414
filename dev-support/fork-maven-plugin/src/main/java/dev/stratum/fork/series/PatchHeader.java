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

import dev.stratum.fork.ForkException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The block of {@code Key: value} lines at the head of a patch. A value may go on in lines that
 * begin with a space. The text is kept as it was written, so that a header survives a round trip
 * through a commit message byte for byte. Immutable.
 */
public final class PatchHeader {
  static final String SUBJECT = "Subject";
  static final String JIRA = "JIRA";
  static final String FEATURE = "Feature";
  static final String REASON = "Reason";
  public static final String UPSTREAM = "Upstream";
  public static final String COMPONENT = "Component";
  static final String TEST = "Test";
  public static final String LINES = "Lines";
  public static final String COMPATIBILITY = "Compatibility";
  public static final String RELEASE_NOTE = "Release-note";
  public static final String REVIEWS = "Reviews";
  static final String NEEDS = "Needs";
  static final String ADDS = "Adds";
  /** Every key, each of which a patch has exactly once. */
  static final List<String> KEYS = List.of(SUBJECT, JIRA, FEATURE, REASON, UPSTREAM, COMPONENT,
    TEST, LINES, COMPATIBILITY, RELEASE_NOTE, REVIEWS, NEEDS, ADDS);
  /** The value of a key that has nothing to say; an empty value is the same. */
  static final String NONE = "none";
  /** The {@link #feature()} of a patch that fixes a defect and belongs to no feature. */
  public static final String FIX = "fix";
  static final Pattern ISSUE = Pattern.compile("HBASE-[0-9]+");

  /**
   * What is known of a defect on another line of HBase, as {@code Lines:} says it:
   * {@code 3.0.0 fixed, read (HBASE-28840)}.
   * @param line     the version, or {@code master}
   * @param verdict  {@code there}; {@code fixed}, if the line has another fix or code without the
   *                 defect; or {@code unaffected}, if the defect has no effect there
   * @param evidence {@code test} if the patch's tests were run there, {@code read} if the sources
   *                 were read
   * @param note     the text in brackets, empty for none
   */
  public record Verdict(String line, String verdict, String evidence, String note) {
    private static final Pattern ENTRY =
      Pattern.compile("(\\S+) (there|fixed|unaffected), (test|read)(?: \\(([^()]+)\\))?");

    /** Returns whether the line has the defect. */
    public boolean isThere() {
      return verdict.equals("there");
    }
  }

  private static final Pattern KEY = Pattern.compile("([A-Za-z][A-Za-z-]*):.*", Pattern.DOTALL);
  private static final Pattern VERSIONS =
    Pattern.compile("in (\\d[^ ,]*(?:(?:,? and|,) \\d[^ ,]*)*)");
  /** The longest line of {@code Adds:} that has several files. */
  private static final int ADDS_WIDTH = 96;

  /** The raw lines of each key, in the order in which they were written. */
  private final Map<String, String> raw;

  private PatchHeader(Map<String, String> raw) {
    this.raw = raw;
  }

  /**
   * Reads a header.
   * @param name what the header belongs to, for messages, such as {@code patches/x.patch}
   */
  static PatchHeader parse(String name, String text) {
    Map<String, String> raw = new LinkedHashMap<>();
    String last = null;
    int number = 0;
    for (String line : text.split("\n")) {
      number++;
      Matcher matcher = KEY.matcher(line);
      if (line.startsWith(" ") && last != null) {
        raw.merge(last, "\n" + line, String::concat);
      } else if (matcher.matches() && KEYS.contains(matcher.group(1))) {
        last = matcher.group(1);
        if (raw.put(last, line) != null) {
          throw new ForkException("%s has '%s:' twice in its header; keep one.", name, last);
        }
      } else if (!line.isBlank()) {
        throw new ForkException("%s line %d is no header line: '%s'; a header has one "
          + "'Key: value' line each for %s, then an empty line.", name, number, line,
          String.join(", ", KEYS));
      }
    }
    for (String key : KEYS) {
      if (!raw.containsKey(key)) {
        throw new ForkException("%s has no '%s:' line in its header; add one (keys: %s).", name,
          key, String.join(", ", KEYS));
      }
    }
    PatchHeader header = new PatchHeader(raw);
    if (header.subject().isEmpty()) {
      throw new ForkException("%s has an empty 'Subject:'; say in a few words what it does.",
        name);
    }
    if (!header.feature().matches("[a-z][a-z0-9-]*")) {
      throw new ForkException("%s has 'Feature: %s'; write the feature's slug, or '%s' for a patch "
        + "that fixes a defect.", name, header.feature(), FIX);
    }
    header.lines(name);
    return header;
  }

  /** Stops if {@code Test:} names a class that is in none of the files of {@code Adds:}. */
  void checkTests(String name) {
    for (String test : tests()) {
      if (adds().stream().noneMatch(path -> path.endsWith("/" + test + ".java"))) {
        throw new ForkException("%s has 'Test: %s', but no file %s.java in 'Adds:'; write the "
          + "simple name of a test class that the patch adds.", name, test, test);
      }
    }
  }

  private String value(String key) {
    String text = raw.get(key);
    return text.substring(text.indexOf(':') + 1).replaceAll("\\s+", " ").trim();
  }

  /** Returns the value of a key in one line, empty for {@link #NONE}. */
  public String text(String key) {
    String value = value(key);
    return value.equals(NONE) ? "" : value;
  }

  private List<String> words(String key) {
    return Stream.of(value(key).split("[ ,]+"))
      .filter(word -> !word.isEmpty() && !word.equals("-") && !word.equals(NONE)).toList();
  }

  /** Returns the one line that says what the patch does. */
  public String subject() {
    return value(SUBJECT);
  }

  /** Returns the JIRA key such as HBASE-23296, or {@code null} for a patch without one. */
  public String jira() {
    Matcher matcher = ISSUE.matcher(value(JIRA));
    return matcher.find() ? matcher.group() : null;
  }

  /** Returns whether the patch is not meant for upstream: {@code JIRA: none}. */
  public boolean staysInFork() {
    return value(JIRA).equals(NONE);
  }

  /** Returns the slug of the feature that the patch belongs to, or {@link #FIX}. */
  public String feature() {
    return value(FEATURE);
  }

  /** Returns whether the patch fixes a defect. */
  public boolean isFix() {
    return feature().equals(FIX);
  }

  /** Returns why the patch exists, without the words that say that it is to be upstreamed. */
  public String reason() {
    return value(REASON).replaceFirst("(?i)^to be upstreamed[.;:,]? *", "");
  }

  /**
   * Returns whether {@code Upstream:} says that an HBase version has the patch, as in
   * {@code in 2.6.6 and 3.0.0 (PR 7995)}. For which Hadoop the version is has no say.
   */
  public boolean isIn(String version) {
    Matcher matcher = VERSIONS.matcher(value(UPSTREAM));
    return matcher.lookingAt() && List.of(matcher.group(1).split(",? and |, "))
      .contains(version.replaceFirst("-hadoop\\d+$", ""));
  }

  /** Returns the simple names of the test classes that fail without the patch. */
  public List<String> tests() {
    return words(TEST);
  }

  /** Returns what is known of the defect on other lines of HBase. */
  public List<Verdict> lines() {
    return lines(subject());
  }

  private List<Verdict> lines(String name) {
    List<Verdict> verdicts = new ArrayList<>();
    String value = text(LINES);
    for (String entry : value.isEmpty() ? new String[0] : value.split(" *; *")) {
      Matcher matcher = Verdict.ENTRY.matcher(entry);
      if (!matcher.matches()) {
        throw new ForkException("%s has '%s' in 'Lines:'; write for each line of HBase its "
          + "version, 'there', 'fixed' or 'unaffected', and 'test' or 'read', as in '2.6.6 there, "
          + "test; 3.0.0 fixed, read (HBASE-1)', or 'none'.", name, entry);
      }
      verdicts.add(new Verdict(matcher.group(1), matcher.group(2), matcher.group(3),
        matcher.group(4) == null ? "" : matcher.group(4)));
    }
    return verdicts;
  }

  /** Returns the names of the earlier patches that this one builds on. */
  public List<String> needs() {
    return words(NEEDS);
  }

  /** Returns the repository paths of the source files that belong to the patch. */
  public List<String> adds() {
    return words(ADDS);
  }

  /** Returns this header with other files added; the same header if they are the same. */
  public PatchHeader withAdds(List<String> paths) {
    if (paths.equals(adds())) {
      return this;
    }
    String line = (ADDS + ": " + String.join(" ", paths)).stripTrailing();
    Map<String, String> changed = new LinkedHashMap<>(raw);
    changed.put(ADDS,
      line.length() <= ADDS_WIDTH ? line : ADDS + ":\n " + String.join("\n ", paths));
    return new PatchHeader(changed);
  }

  /** Returns the header's lines, each with its newline, as they stand in a patch file. */
  public String text() {
    return String.join("\n", raw.values()) + "\n";
  }
}
