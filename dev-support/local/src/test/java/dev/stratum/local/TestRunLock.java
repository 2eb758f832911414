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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestRunLock {
  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  @Test
  public void testSecondRunIsRefusedWithTheProcessOfTheFirst() throws Exception {
    Path folder = temporary.getRoot().toPath();
    try (RunLock first = RunLock.acquire(folder)) {
      RunLocalException refused =
        assertThrows(RunLocalException.class, () -> RunLock.acquire(folder));
      assertEquals("Another run (process " + ProcessHandle.current().pid() + ") is using " + folder
        + "; stop it first.", refused.getMessage());
    }
    RunLock.acquire(folder).close();
  }

  @Test
  public void testFileThatAKilledRunLeftBehindIsNoLock() throws Exception {
    Path folder = temporary.getRoot().toPath();
    Files.writeString(folder.resolve("lock"), "123456789");
    RunLock.acquire(folder).close();
    assertEquals(Long.toString(ProcessHandle.current().pid()),
      Files.readString(folder.resolve("lock")));
  }
}
