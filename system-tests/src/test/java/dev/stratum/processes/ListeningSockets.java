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

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Where processes listen, as Linux tells. */
final class ListeningSockets {
  private static final String LISTENS = "0A";
  /** The address 127.0.0.1 in the format of /proc, and the same address within IPv6. */
  private static final String LOOPBACK = "0100007F";
  private static final String LOOPBACK_6 = "0000000000000000FFFF00000100007F";

  private ListeningSockets() {
  }

  /** Returns those of a process that others than this machine could reach. */
  static List<String> beyondLoopback(long pid) throws IOException {
    Set<String> own = new HashSet<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
      for (Path file : files) {
        try {
          own.add(Files.readSymbolicLink(file).toString());
        } catch (IOException e) {
          // The file was closed meanwhile.
        }
      }
    }
    List<String> reachable = new ArrayList<>();
    for (String table : new String[] { "tcp", "tcp6" }) {
      Path path = Path.of("/proc/" + pid + "/net/" + table);
      if (!Files.exists(path)) {
        continue;
      }
      for (String line : Files.readAllLines(path)) {
        String[] words = line.trim().split("\\s+");
        if (words.length > 9 && words[3].equals(LISTENS)
          && own.contains("socket:[" + words[9] + "]")) {
          String address = words[1].split(":")[0];
          if (!address.equals(LOOPBACK) && !address.equals(LOOPBACK_6)) {
            reachable.add(words[1]);
          }
        }
      }
    }
    return reachable;
  }
}
