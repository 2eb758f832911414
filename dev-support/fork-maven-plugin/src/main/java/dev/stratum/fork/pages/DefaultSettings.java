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
package dev.stratum.fork.pages;

import dev.stratum.fork.pages.SettingsPage.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Entries of hbase-default.xml. Only a key whose default is a literal has one: an entry with an
 * empty value would replace a default that is the value of another key.
 */
public final class DefaultSettings {
  private static final int WIDTH = 80;

  private DefaultSettings() {
  }

  /**
   * Returns the entries of all keys that can have one.
   * @param configuration the text of docs/configuration.md
   */
  public static String of(String configuration) {
    StringBuilder properties = new StringBuilder();
    for (Entry entry : new SettingsPage(configuration).entries()) {
      entry.keys().stream().filter(key -> canHave(entry, key))
        .forEach(key -> properties.append(property(entry, key)));
    }
    return properties.toString();
  }

  /** Returns whether an entry can have a default in the file. HDFS's own keys are HDFS's. */
  static boolean canHave(Entry entry, String key) {
    return entry.value() != null && key.startsWith("hbase.");
  }

  /** Returns the entry of a key as lines. */
  static String property(Entry entry, String key) {
    StringBuilder text = new StringBuilder("  <property>\n    <name>").append(key)
      .append("</name>\n    <value>").append(escape(entry.value())).append("</value>\n");
    List<String> lines = wrap("    <description>" + escape(description(entry))
      + "</description>");
    lines.forEach(line -> text.append(line).append('\n'));
    return text.append("  </property>\n").toString();
  }

  private static String description(Entry entry) {
    List<String> parts = new ArrayList<>();
    if (!entry.range().isEmpty()) {
      parts.add("Range: " + entry.range());
    }
    if (!entry.notes().isEmpty()) {
      parts.add("The default means: " + entry.notes());
    }
    if (!entry.when().isEmpty()) {
      parts.add("When to change: " + entry.when());
    }
    parts.add(entry.live() ? "Can be changed at run time" : "A change needs a restart");
    return parts.stream().map(part -> part.matches("(?s).*[.!?]") ? part : part + ".")
      .collect(Collectors.joining(" "));
  }

  private static List<String> wrap(String text) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.split("(?<=\\S) ")) {
      if (line.length() + word.length() >= WIDTH && line.length() > 0) {
        lines.add(line.toString());
        line = new StringBuilder("    ").append(word);
      } else {
        line.append(line.length() == 0 ? "" : " ").append(word);
      }
    }
    lines.add(line.toString());
    return lines;
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
