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
package dev.stratum.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/** The files of a preset. */
final class Presets {
  private static final Pattern MEMORY = Pattern.compile("-Xmx\\d+m|-XX:MaxDirectMemorySize=\\d+m");

  private Presets() {
  }

  /** Returns the settings of hbase-site.xml. */
  static Map<String, String> settings(Path preset) {
    Configuration conf = new Configuration(false);
    conf.addResource(
      new org.apache.hadoop.fs.Path(preset.resolve("hbase-site.xml").toUri()));
    Map<String, String> settings = new TreeMap<>();
    conf.forEach(entry -> settings.put(entry.getKey(), entry.getValue()));
    return settings;
  }

  /** Returns the limits of heap and direct memory of hbase-env.sh. */
  static List<String> memory(Path preset) throws IOException {
    Matcher matcher = MEMORY.matcher(Files.readString(preset.resolve("hbase-env.sh")));
    return matcher.results().map(result -> result.group()).toList();
  }
}
