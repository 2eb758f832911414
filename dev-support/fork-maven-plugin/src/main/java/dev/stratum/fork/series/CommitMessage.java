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
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A patch's header as a commit message: the subject, an empty line, the other header lines as they
 * are, and a line {@code Patch:} with the file name. A message written by hand may leave out what
 * can be guessed.
 * @param header the header
 * @param name   the patch's file name
 */
public record CommitMessage(PatchHeader header, String name) {
  private static final String PATCH = "Patch";
  private static final Pattern KEY = Pattern.compile("([A-Za-z-]+):(.*)");
  private static final Pattern ISSUE = Pattern.compile("HBASE-[0-9]+");
  private static final int SLUG_LENGTH = 50;

  /** Returns the message for a patch. */
  public static String format(PatchFile patch) {
    String subject = patch.header().subject();
    String text = patch.header().text();
    String first = PatchHeader.SUBJECT + ": " + subject + "\n";
    String rest = text.startsWith(first) ? text.substring(first.length()) : text;
    return subject + "\n\n" + rest + PATCH + ": " + patch.name() + "\n";
  }

  /**
   * Reads a message.
   * @param commit what to call the commit in messages
   */
  public static CommitMessage parse(String commit, String message) {
    String[] lines = message.split("\n");
    Map<String, String> raw = new LinkedHashMap<>();
    List<String> prose = new ArrayList<>();
    String last = null;
    for (int i = 1; i < lines.length; i++) {
      Matcher matcher = KEY.matcher(lines[i]);
      if (lines[i].startsWith(" ") && last != null) {
        raw.merge(last, "\n" + lines[i], String::concat);
      } else if (matcher.matches() && (PatchHeader.KEYS.contains(matcher.group(1))
        || matcher.group(1).equals(PATCH))) {
        last = matcher.group(1);
        raw.put(last, lines[i]);
      } else {
        last = null;
        if (!lines[i].isBlank()) {
          prose.add(lines[i].trim());
        }
      }
    }
    String name = raw.containsKey(PATCH) ? value(raw.remove(PATCH)) : null;
    complete(commit, lines[0].trim(), prose, raw);
    PatchHeader header = PatchHeader.parse(commit, String.join("\n", raw.values()));
    return new CommitMessage(header, name != null ? checked(commit, name) : guessName(header));
  }

  private static void complete(String commit, String subject, List<String> prose,
    Map<String, String> raw) {
    if (subject.isEmpty()) {
      throw new ForkException("%s has no subject; git commit --amend gives it one.", commit);
    }
    if (!prose.isEmpty() && raw.containsKey(PatchHeader.REASON)) {
      throw new ForkException("%s has the line '%s' in its message beside 'Reason:'; a patch's "
        + "header has no room for it, so put it into 'Reason:' (git commit --amend).", commit,
        prose.get(0));
    }
    Matcher issue = ISSUE.matcher(subject);
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put(PatchHeader.SUBJECT, subject);
    defaults.put(PatchHeader.JIRA, issue.find() ? issue.group() : "-");
    boolean hasIssue = ISSUE.matcher(raw.getOrDefault(PatchHeader.JIRA,
      defaults.get(PatchHeader.JIRA))).find();
    defaults.put(PatchHeader.FEATURE, PatchHeader.FIX);
    defaults.put(PatchHeader.REASON, !prose.isEmpty()
      ? String.join(" ", prose)
      : hasIssue ? "to be upstreamed" : "fork only, until it has an issue upstream");
    defaults.put(PatchHeader.UPSTREAM, "not submitted");
    for (String key : List.of(PatchHeader.COMPONENT, PatchHeader.TEST, PatchHeader.LINES,
      PatchHeader.COMPATIBILITY, PatchHeader.RELEASE_NOTE, PatchHeader.REVIEWS)) {
      defaults.put(key, PatchHeader.NONE);
    }
    defaults.put(PatchHeader.NEEDS, "");
    defaults.put(PatchHeader.ADDS, "");
    if (raw.containsKey(PatchHeader.SUBJECT) && raw.keySet().containsAll(PatchHeader.KEYS)) {
      return;
    }
    Map<String, String> given = new LinkedHashMap<>(raw);
    raw.clear();
    if (given.keySet().containsAll(PatchHeader.KEYS.subList(1, PatchHeader.KEYS.size()))) {
      raw.put(PatchHeader.SUBJECT, PatchHeader.SUBJECT + ": " + subject);
      raw.putAll(given);
      return;
    }
    for (String key : PatchHeader.KEYS) {
      raw.put(key,
        given.getOrDefault(key, (key + ": " + defaults.get(key)).stripTrailing()));
    }
  }

  private static String value(String line) {
    return line.substring(line.indexOf(':') + 1).trim();
  }

  private static String checked(String commit, String name) {
    if (!name.matches("[A-Za-z0-9._-]+" + Pattern.quote(PatchFile.SUFFIX))) {
      throw new ForkException("%s has 'Patch: %s'; write a file name of letters, digits, '.', '-' "
        + "and '_' that ends in %s.", commit, name, PatchFile.SUFFIX);
    }
    return name;
  }

  private static String guessName(PatchHeader header) {
    String slug = ISSUE.matcher(header.subject()).replaceFirst("").toLowerCase(Locale.ROOT)
      .replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    if (slug.length() > SLUG_LENGTH) {
      slug = slug.substring(0, SLUG_LENGTH).replaceAll("-[^-]*$", "");
    }
    String issue = header.jira();
    String start = issue == null ? "STRATUM" : issue;
    return start + (slug.isEmpty() ? "" : "-" + slug) + PatchFile.SUFFIX;
  }
}
