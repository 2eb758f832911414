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
package org.apache.hadoop.hbase.master.assignment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.VersionInfoUtil;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.master.ServerManager;
import org.apache.hadoop.hbase.master.region.MasterRegion;
import org.apache.hadoop.hbase.testclassification.MasterTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos;

/**
 * Tests what servers make of a version of the fork: as a number in requests and reports, and where
 * a master compares the servers of a cluster that runs stock and fork side by side.
 */
@Category({ MasterTests.class, SmallTests.class })
public class TestForkVersionInCluster {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestForkVersionInCluster.class);

  private static final String STOCK = "2.6.4-hadoop3";
  private static final String FORK = "2.6.4-hadoop3-stratum-1";
  private static final String NEXT_FORK = "2.6.4-hadoop3-stratum-2";
  private static final int NUMBER = 0x0206004;

  private final Configuration conf = HBaseConfiguration.create();

  @Test
  public void testNumberIsThatOfTheBase() {
    assertEquals(NUMBER, VersionInfoUtil.getVersionNumber(versionInfo(STOCK)));
    assertEquals(NUMBER, VersionInfoUtil.getVersionNumber(versionInfo(FORK)));
    assertEquals("2.6.4", VersionInfoUtil.versionNumberToString(NUMBER));
  }

  @Test
  public void testForkSupportsWhatItsBaseSupports() {
    assertTrue(VersionInfoUtil.hasMinimumVersion(versionInfo(FORK), 1, 2));
    assertTrue(VersionInfoUtil.hasMinimumVersion(versionInfo(FORK), 2, 6));
    assertFalse(VersionInfoUtil.hasMinimumVersion(versionInfo(FORK), 2, 7));
    assertFalse(VersionInfoUtil.hasMinimumVersion(versionInfo(FORK), 3, 0));
  }

  /** Clients send this when they connect, and RegionServers when they register. */
  @Test
  public void testVersionThatIsSentHasNumbers() {
    HBaseProtos.VersionInfo sent = ProtobufUtil.getVersionInfo();
    assertEquals(VersionInfo.getVersion(), sent.getVersion());
    assertEquals(VersionInfo.getMajorVersion(sent.getVersion()), sent.getVersionMajor());
    assertTrue(VersionInfoUtil.hasMinimumVersion(sent, 2, 6));
    assertTrue(VersionInfoUtil.getVersionNumber(sent) >= NUMBER);
  }

  @Test
  public void testSystemTablesMoveToTheFork() {
    assertEquals(Collections.singletonList("stock"), excluded("stock", STOCK, "fork", FORK));
    assertEquals(Collections.singletonList("fork"), excluded("fork", FORK, "next", NEXT_FORK));
    assertEquals(Collections.singletonList("fork"),
      excluded("fork", FORK, "newer", "2.6.5-hadoop3"));
    assertEquals(Collections.emptyList(), excluded("fork", FORK, "other", FORK));
  }

  /** System tables stay where they are while no server has the minimum version for a move. */
  @Test
  public void testSystemTablesStayBelowTheLeastVersionToMove() {
    conf.set("hbase.min.version.move.system.tables", NEXT_FORK);
    assertEquals(Collections.emptyList(), excluded("stock", STOCK, "fork", FORK));
    assertEquals(Collections.singletonList("fork"), excluded("fork", FORK, "next", NEXT_FORK));
  }

  /** Returns the hosts that may not have system tables; {@code servers} are hosts and versions. */
  private List<String> excluded(String... servers) {
    Map<ServerName, String> versions = new LinkedHashMap<>();
    for (int i = 0; i < servers.length; i += 2) {
      versions.put(ServerName.valueOf(servers[i], 16020, 1), servers[i + 1]);
    }
    MasterServices master = mock(MasterServices.class);
    ServerManager serverManager = mock(ServerManager.class);
    when(master.getConfiguration()).thenReturn(conf);
    when(master.getServerManager()).thenReturn(serverManager);
    when(serverManager.getOnlineServersList()).thenReturn(new ArrayList<>(versions.keySet()));
    versions.forEach((server, version) -> when(master.getRegionServerVersion(server))
      .thenReturn(version));
    AssignmentManager manager =
      new AssignmentManager(master, mock(MasterRegion.class), mock(RegionStateStore.class));
    List<String> hosts = new ArrayList<>();
    manager.getExcludedServersForSystemTable().forEach(server -> hosts.add(server.getHostname()));
    return hosts;
  }

  private static HBaseProtos.VersionInfo versionInfo(String version) {
    return HBaseProtos.VersionInfo.newBuilder().setVersion(version).setUrl("").setRevision("")
      .setUser("").setDate("").setSrcChecksum("").build();
  }
}
