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
  private static final Pattern KEY = Pattern.compile("([A-Za-z-]+):.*");
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
    String subject = lines[0].trim();
    if (subject.isEmpty()) {
      throw new ForkException("%s has no subject; git commit --amend gives it one.", commit);
    }
    if (!prose.isEmpty() && raw.containsKey(PatchHeader.REASON)) {
      throw new ForkException("%s has the line '%s' in its message beside 'Reason:'; a patch's "
        + "header has no room for it, so put it into 'Reason:' (git commit --amend).", commit,
        prose.get(0));
    }
    String patch = raw.remove(PATCH);
    PatchHeader header = PatchHeader.parse(commit,
      String.join("\n", complete(subject, String.join(" ", prose), raw).values()));
    return new CommitMessage(header, patch == null ? guessName(header) : name(commit, patch));
  }

  /** Returns the lines as they were given if all are there, and in the order of the keys if not. */
  private static Map<String, String> complete(String subject, String prose,
    Map<String, String> given) {
    Map<String, String> all = new LinkedHashMap<>();
    if (!given.containsKey(PatchHeader.SUBJECT)) {
      all.put(PatchHeader.SUBJECT, PatchHeader.SUBJECT + ": " + subject);
    }
    all.putAll(given);
    if (all.keySet().containsAll(PatchHeader.KEYS)) {
      return all;
    }
    Matcher issue = PatchHeader.ISSUE.matcher(subject);
    String jira = issue.find() ? issue.group() : "-";
    boolean hasIssue =
      PatchHeader.ISSUE.matcher(given.getOrDefault(PatchHeader.JIRA, jira)).find();
    Map<String, String> defaults = Map.of(PatchHeader.JIRA, jira, PatchHeader.FEATURE,
      PatchHeader.FIX, PatchHeader.REASON, !prose.isEmpty() ? prose
        : hasIssue ? "to be upstreamed"
        : "fork only, until it has an issue upstream",
      PatchHeader.UPSTREAM, "not submitted", PatchHeader.NEEDS, "", PatchHeader.ADDS, "");
    Map<String, String> ordered = new LinkedHashMap<>();
    for (String key : PatchHeader.KEYS) {
      String value = key + ": " + defaults.getOrDefault(key, PatchHeader.NONE);
      ordered.put(key, all.getOrDefault(key, value.stripTrailing()));
    }
    return ordered;
  }

  private static String name(String commit, String line) {
    String name = line.substring(line.indexOf(':') + 1).trim();
    if (!name.matches("[A-Za-z0-9._-]+" + Pattern.quote(PatchFile.SUFFIX))) {
      throw new ForkException("%s has 'Patch: %s'; write a file name of letters, digits, '.', '-' "
        + "and '_' that ends in %s.", commit, name, PatchFile.SUFFIX);
    }
    return name;
  }

  private static String guessName(PatchHeader header) {
    String slug = PatchHeader.ISSUE.matcher(header.subject()).replaceFirst("")
      .toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-|-$", "");
    if (slug.length() > SLUG_LENGTH) {
      slug = slug.substring(0, SLUG_LENGTH).replaceAll("-[^-]*$", "");
    }
    return (header.jira() == null ? "STRATUM" : header.jira())
      + (slug.isEmpty() ? "" : "-" + slug) + PatchFile.SUFFIX;
  }
}
