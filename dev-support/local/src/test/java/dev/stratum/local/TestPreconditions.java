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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestPreconditions {
  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  @Test
  public void testPortInUseIsNamedWithItsKeyAndTheRemedy() throws Exception {
    try (ServerSocket loopback = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      ServerSocket everywhere = new ServerSocket(0)) {
      for (ServerSocket listener : List.of(loopback, everywhere)) {
        int port = listener.getLocalPort();
        RunLocalException refused = assertThrows(RunLocalException.class,
          () -> Preconditions.portsFree(Map.of("hbase.master.port", port)));
        assertEquals("Port " + port + " (hbase.master.port) is in use; stop what listens there or"
          + " choose another one with -Dhbase.master.port=PORT.", refused.getMessage());
      }
    }
  }

  @Test
  public void testFreePortIsAccepted() throws Exception {
    int port;
    try (ServerSocket listener = new ServerSocket(0)) {
      port = listener.getLocalPort();
    }
    Preconditions.portsFree(Map.of("hbase.master.port", port));
  }

  @Test
  public void testTooLittleMemoryIsSaidWithItsParts() throws Exception {
    Preconditions.checkMemory(1024, 768, 2092);
    RunLocalException refused =
      assertThrows(RunLocalException.class, () -> Preconditions.checkMemory(1024, 768, 2091));
    assertEquals("Too little memory: 2092 MB are needed (heap 1024, direct 768, the JVM itself 300)"
      + " and 2091 MB are available; choose a smaller --l1-mb or stop other programs.",
      refused.getMessage());
  }

  @Test
  public void testAvailableMemoryOfLinuxIsReadInMegabytes() {
    assertEquals(2048, Preconditions.availableMb(List.of("MemTotal:       16384000 kB",
      "MemFree:          100000 kB", "MemAvailable:    2097152 kB")).getAsLong());
    assertFalse(Preconditions.availableMb(List.of("MemTotal: 1 kB")).isPresent());
  }

  @Test
  public void testTooLittleDiskIsSaidWithTheFolder() throws Exception {
    Preconditions.enoughDisk(temporary.getRoot().toPath(), 0);
    RunLocalException refused = assertThrows(RunLocalException.class,
      () -> Preconditions.enoughDisk(temporary.getRoot().toPath(), Long.MAX_VALUE));
    assertTrue(refused.getMessage(), refused.getMessage().startsWith(
      "Too little disk space: " + Long.MAX_VALUE + " MB are needed in " + temporary.getRoot()));
  }
}
