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

import static org.junit.Assert.assertEquals;

import dev.stratum.fork.Repo;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Files of protocols in a jar. */
public class TestProtocolFiles {

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testFilesStandWhereUpstreamHasThem() throws Exception {
    Path jar = folder.newFile("a.jar").toPath();
    try (OutputStream out = Files.newOutputStream(jar);
      ZipOutputStream zip = new ZipOutputStream(out)) {
      for (String name : List.of("Cell.proto", "server/io/FS.proto", "org/x/A.class")) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(Repo.bytes(name));
        zip.closeEntry();
      }
    }
    String main = "hbase-protocol-shaded/src/main/protobuf/";
    assertEquals(Map.of(main + "Cell.proto", "Cell.proto", main + "server/io/FS.proto",
      "server/io/FS.proto"), Repo.text(ProtocolFiles.read(jar)));
  }
}
