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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * Writes the Grafana dashboard of the archive: the panels of panels.txt, which describes its lines,
 * in the shapes of dashboard.json.
 */
final class Dashboard {
  private static final Pattern ROW = Pattern.compile("\\[(\\d+)\\] (.+)");
  private static final Pattern PANEL =
    Pattern.compile("(\\S.*?) \\| (\\S+)(?: (\\{.*\\}))?(?: \\| (\\w+))?");
  private static final Pattern QUERY = Pattern.compile("(?:([^=]+) = )?([^=]+)");

  /** The names of all metrics here have an underscore. */
  private static final Pattern METRIC = Pattern.compile("\\b[a-z]\\w*_\\w+\\b(?! *\\()");
  private static final String OF_SELECTED_SERVERS = "{job=~\"$job\",instance=~\"$instance\"}";
  private static final Pattern RANGE = Pattern.compile("\\b(rate|increase)\\(([^()]+)\\)");

  /** The columns of Grafana's grid. */
  private static final int COLUMNS = 24;

  private final JsonObject shapes;
  private final JsonArray panels = new JsonArray();
  private JsonObject shape;
  private JsonObject panel;
  private int id;
  private int x;
  private int y;
  private int height;

  private Dashboard(JsonObject shapes) {
    this.shapes = shapes;
  }

  /** Writes the file that is the second argument from those in the folder that is the first. */
  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    Dashboard dashboard = new Dashboard(JsonParser
      .parseString(Files.readString(folder.resolve("dashboard.json"))).getAsJsonObject());
    for (String line : Files.readAllLines(folder.resolve("panels.txt"))) {
      if (!line.isEmpty() && !line.startsWith("#")) {
        dashboard.read(line);
      }
    }
    JsonObject written = dashboard.shapes.getAsJsonObject("dashboard");
    written.add("panels", dashboard.panels);
    Path file = Path.of(args[1]);
    Files.createDirectories(file.getParent());
    Files.writeString(file, new GsonBuilder().setPrettyPrinting().disableHtmlEscaping().create()
      .toJson(written) + "\n");
  }

  private void read(String line) {
    Matcher row = ROW.matcher(line);
    if (row.matches()) {
      id = Integer.parseInt(row.group(1));
      begin("row", row.group(2));
    } else if (!line.startsWith("  ")) {
      Matcher head = match(PANEL, line);
      begin(head.group(4) == null ? "timeseries" : head.group(4), head.group(1));
      JsonObject field = panel.getAsJsonObject("fieldConfig");
      JsonObject defaults = field.getAsJsonObject("defaults");
      defaults.addProperty("unit", head.group(2));
      if (head.group(3) != null) {
        JsonParser.parseString(head.group(3)).getAsJsonObject().entrySet().forEach(
          other -> (other.getKey().equals("overrides") ? field : defaults).add(other.getKey(),
            other.getValue()));
      }
    } else if (!panel.has("description")) {
      panel.addProperty("description", line.strip());
    } else {
      for (String query : line.strip().split("; ")) {
        query(match(QUERY, query));
      }
    }
  }

  private static Matcher match(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("Not of the form " + pattern + ": " + text);
    }
    return matcher;
  }

  /** Begins a panel to the right of the last one, or below it if there is no space. */
  private void begin(String type, String title) {
    shape = shapes.getAsJsonObject(type);
    panel = shape.deepCopy();
    panel.addProperty("id", id++);
    panel.addProperty("type", type);
    panel.addProperty("title", title);
    if (panel.has("targets")) {
      panel.add("targets", new JsonArray());
    }
    JsonObject position = panel.getAsJsonObject("gridPos");
    int width = position.get("w").getAsInt();
    if (x + width > COLUMNS) {
      x = 0;
      y += height;
    }
    position.addProperty("x", x);
    position.addProperty("y", y);
    x += width;
    height = position.get("h").getAsInt();
    panels.add(panel);
  }

  private void query(Matcher query) {
    JsonObject target = shape.getAsJsonArray("targets").get(0).getAsJsonObject().deepCopy();
    JsonArray targets = panel.getAsJsonArray("targets");
    target.addProperty("refId", String.valueOf((char) ('A' + targets.size())));
    target.add("datasource", panel.get("datasource"));
    String selected = METRIC.matcher(query.group(2))
      .replaceAll(name -> Matcher.quoteReplacement(name.group() + OF_SELECTED_SERVERS));
    target.addProperty("expr", RANGE.matcher(selected).replaceAll("$1($2[\\$__rate_interval])"));
    if (query.group(1) != null) {
      target.addProperty("legendFormat",
        target.get("legendFormat").getAsString() + " " + query.group(1));
    }
    targets.add(target);
  }
}
