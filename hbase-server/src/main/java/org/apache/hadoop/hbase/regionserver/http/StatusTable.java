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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.Locale;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.html.HtmlEscapers;

/**
 * A table of figures by name, as HTML, and how the pages of this package show names and figures.
 * They need the style sheets of the RegionServer's pages, no script, and no other server. Not
 * thread-safe.
 */
@InterfaceAudience.Private
final class StatusTable {

  /** Shown where there is no figure. */
  static final String NONE = "\u2013";

  /** The style of what is in an element of the class "figures". */
  static final String STYLE = "<style>\n"
    + ".figures td, .figures th { vertical-align: top; }\n"
    + ".figures table { max-width: 64em; }\n"
    + ".figures .n { text-align: right; font-variant-numeric: tabular-nums; }\n"
    + ".figures td.n { white-space: nowrap; }\n"
    + ".figures .w { word-break: normal; overflow-wrap: anywhere; min-width: 6em; }\n"
    + ".figures .d { color: #6c757d; }\n"
    + ".figures .bad { color: #a94442; font-weight: bold; }\n"
    + ".figures .bar { background: #ddd; height: 6px; margin: 0 0 1em; max-width: 40em; }\n"
    + ".figures .bar div { background: #337ab7; height: 6px; }\n"
    + "@media (max-width: 575px) {\n"
    + "  .figures h1 small { display: block; }\n"
    + "  .figures table { font-size: 80%; }\n"
    + "  .figures td, .figures th { padding: .3em .25em !important; }\n"
    + "}\n</style>\n";

  private final StringBuilder html =
    new StringBuilder("<div class=\"table-responsive\">\n<table class=\"table table-striped\">\n");

  /**
   * @param names   header of the first column, which has names
   * @param figures header of each other column
   */
  StatusTable(String names, String... figures) {
    html.append("<tr><th>").append(names).append("</th>");
    for (String figure : figures) {
      html.append("<th class=\"n\">").append(figure).append("</th>");
    }
    html.append("</tr>\n");
  }

  /** Adds a row; the name and the cells are HTML. */
  StatusTable row(String name, String... cells) {
    html.append("<tr><td class=\"w\">").append(name).append("</td>");
    for (String cell : cells) {
      html.append("<td class=\"n\">").append(cell).append("</td>");
    }
    html.append("</tr>\n");
    return this;
  }

  /** Returns the table, which scrolls by itself in a narrow window. */
  String html() {
    return html + "</table>\n</div>\n";
  }

  /** Returns what a page has between the header and the footer of all pages. */
  static String page(String title, String server, String body) {
    return "<div class=\"container-fluid content figures\">\n" + STYLE
      + "<div class=\"row inner_header\">\n<div class=\"page-header\">\n<h1>" + title
      + " <small class=\"w\">" + escape(server) + "</small></h1>\n</div>\n</div>\n" + body
      + "</div>\n";
  }

  static String escape(String text) {
    return HtmlEscapers.htmlEscaper().escape(text);
  }

  /** Returns a paragraph that explains what is above it. */
  static String note(String html) {
    return "<p class=\"d\">" + html + "</p>\n";
  }

  /** Returns a figure, highlighted if it says that something is wrong. */
  static String highlighted(String figure, boolean bad) {
    return bad ? "<span class=\"bad\">" + figure + "</span>" : figure;
  }

  /** Rounds down, so that 100 % is shown only if the part is the whole. */
  static String share(long part, long whole) {
    return whole == 0
      ? NONE
      : String.format(Locale.ROOT, "%.1f %%", Math.floor(1000.0 * part / whole) / 10);
  }

  static String count(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  static String bytes(long bytes) {
    return TraditionalBinaryPrefix.long2String(bytes, "B", 1);
  }

  /**
   * Returns the name of a metric as words, such as "Index block count", by which docs/metrics.md
   * explains it.
   */
  static String words(String metric) {
    String words =
      metric.replaceAll("(?<=[a-z0-9])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    return Character.toUpperCase(words.charAt(0)) + words.substring(1);
  }

  /** Returns the value of a metric in the unit that its name says. */
  static String value(String metric, long value) {
    return metric.endsWith("Bytes") || metric.endsWith("Size") || metric.endsWith("Capacity")
      || metric.equals("Used") ? bytes(value) : count(value);
  }
}
