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

/**
 * A table of a report, which scrolls on its own where the page is narrow. Columns and cells have
 * classes of the style sheet in {@link HtmlPage}. Not thread-safe.
 */
public final class HtmlTable {
  private final StringBuilder html = new StringBuilder();

  /**
   * @param label what the table shows, for screen readers; is escaped here
   * @param style classes of the table, or an empty string
   */
  public HtmlTable(String label, String style) {
    html.append("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"")
      .append(HtmlPage.escape(label)).append("\"><table").append(attribute(style))
      .append(">\n<tr>");
  }

  private static String attribute(String style) {
    return style.isEmpty() ? "" : " class=\"" + style + '"';
  }

  /** Adds a column's heading; all of them come before the first row. */
  public HtmlTable heading(String text) {
    return heading(text, "");
  }

  /** Adds a column's heading with classes. */
  public HtmlTable heading(String text, String style) {
    return add("th", HtmlPage.escape(text), style);
  }

  /** Begins a row. */
  public HtmlTable row() {
    html.append("</tr>\n<tr>");
    return this;
  }

  /** Adds a cell to the row. */
  public HtmlTable cell(String text) {
    return cell(text, "");
  }

  /** Adds a cell with classes to the row. */
  public HtmlTable cell(String text, String style) {
    return markup(HtmlPage.escape(text), style);
  }

  /** Adds a cell whose content is markup already. */
  public HtmlTable markup(String content, String style) {
    return add("td", content, style);
  }

  private HtmlTable add(String tag, String content, String style) {
    html.append('<').append(tag).append(attribute(style)).append('>').append(content).append("</")
      .append(tag).append('>');
    return this;
  }

  public String html() {
    return html + "</tr>\n</table></div>\n";
  }
}
