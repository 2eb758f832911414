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
package dev.stratum.fork.base;

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The files that upstream's build generates the messages of its protocols from. The published jar
 * of the module has them beside the classes.
 * @param version the version that they are of
 * @param tree    content by repository path
 */
public record ProtocolFiles(String version, SortedMap<String, byte[]> tree) {
  /** The module that has them. */
  public static final String MODULE = "hbase-protocol-shaded";
  private static final String FOLDER = MODULE + "/src/main/protobuf/";
  private static final String SUFFIX = ".proto";

  /**
   * Reads those of the first version that is published.
   * @param versions the best first
   * @throws ForkException if none is
   */
  public static ProtocolFiles resolve(BaseResolver resolver, List<String> versions)
    throws IOException {
    ForkException missing = null;
    for (String version : versions) {
      try {
        return new ProtocolFiles(version, read(resolver.jar(MODULE, version)));
      } catch (ForkException e) {
        missing = e;
      }
    }
    throw missing;
  }

  static SortedMap<String, byte[]> read(Path jar) throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements();) {
        ZipEntry entry = all.nextElement();
        if (entry.getName().endsWith(SUFFIX)) {
          try (InputStream in = zip.getInputStream(entry)) {
            files.put(FOLDER + entry.getName(), in.readAllBytes());
          }
        }
      }
    }
    return files;
  }
}
