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
package dev.stratum.fork.guide;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Says in a guide's sentences what this project's words mean to HBase, and leaves out the sentences
 * that are only about this project: its jars, tools, tests and other pages.
 */
final class UpstreamWords {
  /** Marks a link to a page that upstream does not have. */
  static final String NOWHERE = "\uE000";

  /** What no chapter has. */
  static final Pattern FOREIGN = Pattern.compile(NOWHERE + "|(?i:\\b(?:stratum|fork|forks|stock"
    + "|drop-?in|presets?)\\b)|\\bTest[A-Z]\\w+|\\b\\w+Benchmark\\b|[\\w-]+\\.md\\b");

  /** A clause that only refers to a page. */
  private static final Pattern POINTER =
    Pattern.compile("(?:[;,:]? see " + NOWHERE + "|: " + NOWHERE + ")(?=[.;]|$)");
  private static final Pattern ASIDE = Pattern.compile("\\s*\\((?:[^()]|\\([^()]*\\))*\\)");
  private static final Pattern SENTENCE =
    Pattern.compile("(?<=[.!?]\\)?)\\s+(?=[A-Z`\\[(<\uE000])");

  private static final Map<Pattern, String> REWRITES = new LinkedHashMap<>();

  static {
    rewrite("this fork's (hbase-\\w+)", "an $1 that has this feature");
    rewrite("[Tt]his fork's (keys?|jars?)", "the new $1");
    rewrite("In (?:this|the) fork,? ", "With this feature, ");
    rewrite("\\bin (?:this|the) fork\\b", "with this feature");
    rewrite("The fork (?=\\w+s\\b)", "With this feature, HBase ");
    rewrite("\\bstock and fork servers\\b", "servers without and with this feature");
    rewrite("a key of stock\\b", "an existing key");
    rewrite("(\\d) of stock\\b", "$1 times the result without this feature");
    rewrite("\\bA stock (server|client)\\b", "A $1 without this feature");
    rewrite("\\ba stock (server|client)\\b", "a $1 without this feature");
    rewrite("\\bstock (servers|clients)\\b", "$1 without this feature");
    rewrite("\\b(?:in|on|of|for) stock\\b(?!')", "without this feature");
    rewrite("\\b(?:In|On) stock\\b(?!')", "Without this feature");
    rewrite("\\b[Ss]tock's\\b", "HBase's");
    rewrite("^(?:(.*), )?stock$", "$1 without this feature");
    rewrite("(?<=^|[.:] )Stock ", "Without this feature, HBase ");
    rewrite("\\bstock (?=returns|caches|serves|opens)", "HBase without this feature ");
  }

  private UpstreamWords() {
  }

  private static void rewrite(String from, String to) {
    REWRITES.put(Pattern.compile(from), to);
  }

  /** Returns the sentences that upstream can have; empty if there are none. */
  static List<String> sentences(String paragraph) {
    List<String> kept = new ArrayList<>();
    for (String sentence : SENTENCE.split(ours(paragraph).strip())) {
      if (!sentence.isBlank() && !isForeign(sentence)) {
        kept.add(sentence);
      }
    }
    return kept;
  }

  private static String ours(String text) {
    String result = ASIDE.matcher(POINTER.matcher(text).replaceAll(""))
      .replaceAll(aside -> isForeign(rewritten(aside.group()))
        ? ""
        : Matcher.quoteReplacement(aside.group()));
    return rewritten(result);
  }

  private static String rewritten(String text) {
    String result = text;
    for (Map.Entry<Pattern, String> rewrite : REWRITES.entrySet()) {
      result = rewrite.getKey().matcher(result).replaceAll(rewrite.getValue());
    }
    return result;
  }

  /** Returns a line of code or a table's cell, or {@code null} if upstream cannot have it. */
  static String line(String text) {
    String result = ours(text);
    return isForeign(result) ? null : result;
  }

  static boolean isForeign(String text) {
    return FOREIGN.matcher(text).find();
  }
}
