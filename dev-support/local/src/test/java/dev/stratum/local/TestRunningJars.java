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

import java.nio.file.Path;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.Test;

public class TestRunningJars {
  private static final String VERSION = "2.6.4-hadoop3-stratum-1";

  @Test
  public void testJarOfThisVersionOrTheReactorsClassesAreOurs() {
    assertTrue(RunningJars.isOurs(
      Path.of("/r/hbase-server/target/hbase-server-" + VERSION + ".jar"), "hbase-server", VERSION));
    assertTrue(
      RunningJars.isOurs(Path.of("/r/hbase-server/target/classes"), "hbase-server", VERSION));
    assertFalse(RunningJars.isOurs(Path.of("/lib/hbase-server-2.6.4-hadoop3.jar"), "hbase-server",
      VERSION));
    assertFalse(RunningJars.isOurs(
      Path.of("/r/hbase-server/target/hbase-server-" + VERSION + ".jar"), "hbase-client", VERSION));
  }

  @Test
  public void testClassesOfThisTestAreOurs() throws Exception {
    assertEquals(VersionInfo.getVersion(), RunningJars.check(Path.of("/")));
  }

  @Test
  public void testJarsOfAnotherCheckoutAreRefused() {
    RunLocalException refused =
      assertThrows(RunLocalException.class, () -> RunningJars.check(Path.of("/no/such/checkout")));
    assertTrue(refused.getMessage(),
      refused.getMessage().startsWith("The running hbase-common is "));
  }
}
