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
package dev.stratum.processes;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.regionserver.HRegionServer;

/** The build that a process runs. */
enum Jars {
  /** The published jars. */
  STOCK(System.getProperty("stratum.base")),
  /** Those that were built here. */
  FORK(System.getProperty("stratum.version"));

  private static final Map<String, Class<?>> MODULES = Map.of("hbase-common", HConstants.class,
    "hbase-client", Connection.class, "hbase-server", HRegionServer.class);

  private final String version;

  Jars(String version) {
    this.version = version;
  }

  /** Returns what its VersionInfo says. */
  String version() {
    return version;
  }

  /** Returns this JVM's class path, which has the fork's jars, with those of this build. */
  String classPath() {
    List<String> entries =
      new ArrayList<>(List.of(System.getProperty("java.class.path").split(File.pathSeparator)));
    if (this == STOCK) {
      MODULES.forEach((module, type) -> {
        Path published = Path.of(System.getProperty("stratum.published"),
          module + "-" + version + ".jar");
        Path ours = origin(type);
        if (!Files.exists(published)
          || !entries.removeIf(entry -> !entry.isEmpty() && isSame(ours, Path.of(entry)))) {
          throw new IllegalStateException(
            "No " + published + ", or " + ours + " is not on the class path");
        }
        entries.add(published.toString());
      });
    }
    return String.join(File.pathSeparator, entries);
  }

  private static boolean isSame(Path ours, Path entry) {
    return ours.equals(entry.toAbsolutePath().normalize());
  }

  private static Path origin(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
