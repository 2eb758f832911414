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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.Conversation;
import dev.stratum.childprocess.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/** What is left in memory is lost to the machine. */
@Category(LargeTests.class)
public class TestLoopbackHdfs {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** Makes a folder as HDFS does, and answers its path. */
  static final class Holder {
    private Holder() {
    }

    public static void main(String[] args) throws InterruptedException {
      Conversation.hold((request, conversation) -> {
        Path parent = Path.of(request.get("parent").getAsString());
        return new JsonPrimitive(make(parent).toString());
      });
    }
  }

  private static Path make(Path parent) throws IOException {
    Path made = Files.createTempDirectory(parent, LoopbackHdfs.PREFIX);
    LoopbackHdfs.lock(made);
    Files.createFile(made.resolve("block"));
    return made;
  }

  @Test
  public void testFoldersOfProcessesThatWereKilledAreRemovedAndNoOthers() throws Exception {
    Path parent = folder.newFolder("memory").toPath();
    Path own = make(parent);
    JsonObject request = ChildProcess.request("make");
    request.addProperty("parent", parent.toString());
    Path theirs;
    try (ChildProcess child = new ChildProcess("holder",
      new JvmCommand(Holder.class).options("-Xmx32m").tmpDir(folder.getRoot().toPath()),
      folder.getRoot().toPath().resolve("log"))) {
      theirs = Path.of(child.ask(request).getAsString());
      LoopbackHdfs.removeAbandoned(parent);
      assertTrue(Files.exists(theirs.resolve("block")));
    }
    LoopbackHdfs.removeAbandoned(parent);
    assertTrue(Files.exists(own.resolve("block")));
    assertEquals(Set.of(own.getFileName().toString(), own.getFileName() + ".lock"),
      Set.of(parent.toFile().list()));
  }
}
