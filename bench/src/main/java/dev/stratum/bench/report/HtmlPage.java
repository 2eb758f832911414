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
package dev.stratum.bench.report;

/** What the pages of results have in common: text that is no markup, and the frame around them. */
public final class HtmlPage {
  private HtmlPage() {
  }

  /** Text as it may stand between tags and in an attribute's double quotes. */
  public static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"",
      "&quot;");
  }

  /**
   * All that comes before a page's first heading.
   * @param title is escaped here
   * @param style sheet of the page
   */
  public static String begin(String title, String style) {
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
        """.formatted(escape(title), style);
  }

  /** All that comes behind what {@link #begin} has begun. */
  public static String end() {
    return "</main>\n</body>\n</html>\n";
  }
}
