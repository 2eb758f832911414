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
package dev.stratum.report;

/** The begin and the end of a report's page, with the style sheet that all reports share. */
public final class HtmlPage {
  private static final String STYLE = Chart.STYLE + """
      :root { color-scheme: light dark; --ink: #1c2329; --soft: #5c6670; --line: #d8dde2;
        --page: #ffffff; --fork: #0b6e99; --better: #17803d; --worse: #b42318; }
      @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa5b1;
        --line: #39424b; --page: #14191e; --fork: #4fb3dd; --better: #4cc277;
        --worse: #f27a6f; } }
      * { box-sizing: border-box; }
      body { margin: 0; background: var(--page); color: var(--ink);
        font: 16px/1.5 system-ui, sans-serif; }
      main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
      h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
      h2 { font-size: 1.25rem; margin: 3rem 0 .25rem; }
      h3 { font-size: 1.05rem; margin: 2rem 0 .25rem; scroll-margin-top: 1rem; }
      p { margin: 0 0 1rem; max-width: 48rem; }
      a { color: var(--fork); }
      .meta { color: var(--soft); }
      code, pre { font: .85rem/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
      pre { white-space: pre-wrap; margin: 0 0 1rem; }
      .scroll { overflow-x: auto; margin-bottom: 1rem; }
      table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
      .summary { width: 100%; }
      .tables { display: flex; flex-wrap: wrap; gap: 0 2.5rem; align-items: flex-start; }
      .tables .scroll { max-width: 100%; }
      th, td { text-align: right; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
        white-space: nowrap; }
      th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
      th:first-child, td:first-child, .text { text-align: left; }
      td.text { white-space: normal; }
      td b { font-weight: 600; }
      .ahead { color: var(--better); } .behind, .failed, .missed { color: var(--worse); }
      .met { color: var(--better); }
      .charts { display: grid; gap: 1rem 1.5rem; margin: .5rem 0 1rem;
        grid-template-columns: repeat(auto-fit, minmax(min(100%, 17.5rem), 1fr)); }
      svg { width: 100%; height: auto; display: block; }
      .scroll svg { min-width: 42rem; max-width: 64rem; }
      .key span::before { content: ""; display: inline-block; width: 1.1rem; height: .2rem;
        margin-right: .35rem; vertical-align: middle; background: currentColor; }
      .key span { margin-right: 1rem; font-weight: 600; }
      details { margin: .5rem 0; } summary { cursor: pointer; }
      @media (max-width: 46rem) {
        .summary .wide { display: none; }
        .summary th, .summary td { padding: .35rem .25rem; }
        .summary td:first-child { white-space: normal; overflow-wrap: anywhere; }
      }
      """;

  private HtmlPage() {
  }

  /** Escapes text for use between tags and in an attribute's double quotes. */
  public static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"",
      "&quot;");
  }

  /**
   * Returns the beginning of a page, up to its first heading.
   * @param title is escaped here
   */
  public static String begin(String title) {
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>%s</title>
        <style>
        %s</style>
        </head>
        <body>
        <main>
        """.formatted(escape(title), STYLE);
  }

  /** Returns the legend of charts with lines of stock and fork. */
  public static String legend() {
    return "<p class=\"key\"><span class=\"stock\">stock</span>"
      + "<span class=\"fork\">fork</span></p>\n";
  }

  /** Returns the end of a page. */
  public static String end() {
    return "</main>\n</body>\n</html>\n";
  }
}
