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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** No process outlives the one that started it. */
public class TestChildProcess {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** Answers the process id of a child that it starts, and anything else with an error. */
  static final class Parent {
    private Parent() {
    }

    public static void main(String[] args) throws InterruptedException {
      Conversation.hold((request, conversation) -> {
        Path own = Path.of(System.getProperty("java.io.tmpdir"));
        if (!request.get("do").getAsString().equals("start")) {
          throw new ProcessException("It does not know\nwhat that is.");
        }
        return new JsonPrimitive(launch("grandchild", own).handle().pid());
      });
    }
  }

  private static ChildProcess launch(String name, Path folder) throws IOException {
    return new ChildProcess(name, Parent.class, System.getProperty("java.class.path"),
      List.of("-Xmx32m"), folder, folder.resolve(name + ".log"));
  }

  private static JsonObject request(String what) {
    JsonObject request = new JsonObject();
    request.addProperty("do", what);
    return request;
  }

  @Test
  public void testChildEndsWithTheProcessThatStartedItEvenIfThatIsKilled() throws Exception {
    ProcessHandle grandchild;
    try (ChildProcess child = launch("child", folder.getRoot().toPath())) {
      grandchild = ProcessHandle.of(child.ask(request("start")).getAsLong()).orElseThrow();
      assertTrue(grandchild.isAlive());
    }
    Cluster.await("the grandchild has ended", () -> !grandchild.isAlive() || isZombie(grandchild));
  }

  /** As it stays in a container whose first process does not reap its children. */
  private static boolean isZombie(ProcessHandle process) throws IOException {
    Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
    return Files.exists(stat) && Files.readString(stat).contains(") Z ");
  }

  @Test
  public void testErrorIsOneSentenceAndTheEndOfTheProcessIsAnError() throws Exception {
    ChildProcess child = launch("child", folder.getRoot().toPath());
    try {
      ProcessException said =
        assertThrows(ProcessException.class, () -> child.ask(request("dance")));
      assertEquals("child: It does not know what that is.", said.getMessage());
    } finally {
      child.close();
    }
    assertFalse(child.handle().isAlive());
    ProcessException ended =
      assertThrows(ProcessException.class, () -> child.ask(request("start")));
    assertTrue(ended.getMessage(), ended.getMessage().contains("has ended"));
  }
}
