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

import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The prose of a file: a text of equal length with all else blanked out, so that a place in it is
 * a place in the file. Code becomes a character that is part of no word and no space, so that a
 * phrase is found over the end of a line of a comment, but not over code.
 */
final class Prose {
  private static final char CODE = '\uFFFC';

  /** What is code within a comment, or names something. */
  private static final Pattern IN_COMMENT =
    Pattern.compile("\\{@\\w+\\b[^{}]*(\\{[^{}]*\\}[^{}]*)*\\}"
      + "|(?s:<(code|pre)>.*?</\\2>)|<[^<>]+>|`[^`\\n]*`|@(param|throws|see)\\s+\\S+"
      + "|https?://\\S+");
  private static final Pattern FENCE = Pattern.compile("(?ms)^ *```.*?^ *``` *$");
  private static final Pattern IN_PAGE = Pattern.compile("(`+)(?:(?!\\n\\n)(?s:.))*?\\1"
    + "|(?s:<(code|pre)>.*?</\\2>)|(?s:<!--.*?-->)|<[^<>]+>|\\]\\([^)\\s]*\\)|https?://\\S+");
  /** The keys of a patch's header whose values are names, and paths anywhere. */
  private static final Pattern IN_HEADER =
    Pattern.compile("(?m)^(Needs|Test|Adds):.*(\\n .*)*|`[^`]*`|\\S+/\\S+");
  private static final Pattern SOURCE = Pattern.compile("(?s)(?<text>\"\"\".*?(?<!\\\\)\"\"\")"
    + "|(?<string>\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)+')"
    + "|(?<line>//[^\\n]*)|(?<block>/\\*.*?\\*/)");
  private static final Pattern MARKERS = Pattern.compile("(?m)^\\s*\\*+/?|^//+|/\\*+|\\*+/");

  private Prose() {
  }

  /** Returns the comments of a Java source. */
  static String ofJava(String source) {
    StringBuilder prose = new StringBuilder();
    Matcher part = SOURCE.matcher(source);
    int at = 0;
    while (part.find()) {
      prose.append(code(source.substring(at, part.start())));
      String comment = part.group("line") != null ? part.group("line") : part.group("block");
      prose.append(comment == null
        ? code(part.group())
        : blank(MARKERS, blank(IN_COMMENT, comment, Prose::code), Prose::space));
      at = part.end();
    }
    return prose.append(code(source.substring(at))).toString();
  }

  /** Returns the text of a page in Markdown. */
  static String ofPage(String page) {
    return blank(IN_PAGE, blank(FENCE, page, Prose::code), Prose::code);
  }

  /** Returns the header of a patch. */
  static String ofPatch(String patch) {
    Matcher diff = Pattern.compile("(?m)^(\\s*$|diff --git )").matcher(patch);
    return blank(IN_HEADER, diff.find() ? patch.substring(0, diff.start()) : patch, Prose::code);
  }

  private static String blank(Pattern pattern, String text, Function<String, String> with) {
    return pattern.matcher(text)
      .replaceAll(match -> Matcher.quoteReplacement(with.apply(match.group())));
  }

  private static String code(String text) {
    return text.replaceAll("\\S", String.valueOf(CODE));
  }

  private static String space(String text) {
    return text.replaceAll("\\S", " ");
  }
}
