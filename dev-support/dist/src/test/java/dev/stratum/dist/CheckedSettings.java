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

import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.regionserver.operations.SettingsCheck;

/** The settings check in a JVM with the memory of a server. */
final class CheckedSettings {
  private static final Pattern MOUNT = Pattern.compile("/(ssd\\d?)(?=/)");

  private CheckedSettings() {
  }

  /**
   * Returns what the check finds, except that a device is larger than this machine has.
   * @param folder an empty folder, in which the mounts of the settings are created
   * @param site   the content of hbase-site.xml
   * @param memory options of the JVM
   */
  static List<String> findings(Path folder, String site, List<String> memory) throws Exception {
    Path conf = Files.createDirectory(folder.resolve("conf"));
    Matcher mount = MOUNT.matcher(site);
    while (mount.find()) {
      Files.createDirectories(folder.resolve(mount.group(1)).resolve("hbase"));
    }
    Files.writeString(conf.resolve("hbase-site.xml"),
      mount.reset().replaceAll(Matcher.quoteReplacement(folder.toString()) + "/$1"));
    List<String> command = new ArrayList<>(
      List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        conf + File.pathSeparator + System.getProperty("java.class.path"),
        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote"));
    command.addAll(List.of(System.getProperty("stratum.jvm.opens").trim().split("\\s+")));
    command.addAll(memory);
    command.add(SettingsCheck.class.getName());
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertTrue(output, process.waitFor() <= 1 && output.contains("memory heap "));
    return output.lines()
      .filter(line -> line.matches("(refused|warning|misspelt|without-effect) .*"))
      .filter(line -> !line.matches(".*(MB free|MB of the file system of).*")).toList();
  }
}
