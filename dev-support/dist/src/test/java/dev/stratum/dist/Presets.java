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
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.regionserver.operations.SizingTool;

/** Writes the presets of the archive, as {@code dropin size} writes settings. */
final class Presets {
  private Presets() {
  }

  /** Writes each preset into a folder of its own in the folder that is the argument. */
  public static void main(String[] args) throws IOException {
    for (String load : List.of("serving", "ingest", "mixed")) {
      for (int memory : new int[] { 32, 64, 128, 256 }) {
        for (int devices : new int[] { 1, 4 }) {
          String paths = IntStream.rangeClosed(1, devices)
            .mapToObj(i -> "/ssd" + i + "/hbase.segments").collect(Collectors.joining(","));
          String name = load + "-" + memory + "g-" + devices + "-ssd";
          int code = SizingTool.run("--load", load, "--memory", memory + "g", "--device", "900g",
            "--paths", paths, "--write", Path.of(args[0], name).toString());
          if (code != 0) {
            throw new IOException("No preset " + name + ": exit code " + code);
          }
        }
      }
    }
  }
}
