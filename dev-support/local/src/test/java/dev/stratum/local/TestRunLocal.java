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
import static org.junit.Assert.assertTrue;

import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The program in JVMs of its own, as the script starts it, with few rows and free ports. */
@Category(LargeTests.class)
public class TestRunLocal extends RunLocalFixture {
  @Test
  public void testServesFromBothTiersStopsRecoversAndReusesItsData() throws Exception {
    start(false, 5000);
    awaitOutput("serving; Ctrl-C stops");
    assertTrue(output(), output().contains("loaded 5,000 rows of 10 x 100 B into usertable"));
    assertHitsInBothTiers();
    assertTrue(output(),
      output().contains("hbase.zookeeper.property.clientPort=" + zooKeeperPort));
    Matcher address = Pattern.compile("http://localhost:\\d+/rs-status").matcher(output());
    assertTrue(output(), address.find());
    get(address.group());
    assertSaysWhatRuns(get(address.group().replace("rs-status",
      "jmx?qry=Hadoop:service=HBase,name=Info")));
    assertTrue(output(), output().contains(address.group().replace("rs-status", "features")));
    assertSecondRunIsRefused();
    process.destroy();
    assertEquals(TERMINATED, awaitEnd());
    assertTrue(output(), output().contains("stopped, regions flushed and WAL closed"));

    // It is killed before the flush, so that the last thousand rows are in the WAL only.
    start(false, 6000);
    awaitOutput("loaded 1,000 rows");
    assertTrue(output(), output().contains("usertable holds 5,000 rows from an earlier run"));
    process.destroyForcibly().waitFor();

    start(true, 6000);
    assertEquals(output(), 0, awaitEnd());
    assertTrue(output(), output().contains("usertable holds 6,000 rows from an earlier run"));
    assertHitsInBothTiers();
  }

  @Test
  public void testSettingThatTheServerRefusesEndsTheRunWithItsSentence() throws Exception {
    start(true, 1, "hbase.bucketcache.l2.ioengine=floppy:/a");
    assertEquals(RunLocal.FAILED, awaitEnd());
    assertTrue(output(), output().contains(
      "run-local: The servers refuse to start: hbase.bucketcache.l2.ioengine is floppy:/a; must"));
    assertTrue(output(), output().contains("run-local: the log is " + folder));
  }

  @Test
  public void testServerThatRunsOutOfMemorySaysCauseKeyAndLog() throws Exception {
    // The queue of each writer thread would take 800 MB.
    start(true, 1, "hbase.bucketcache.l2.writer.queuelength=200000000");
    assertEquals(RunLocal.FAILED, awaitEnd());
    assertTrue(output(), output().contains(
      "run-local: A server has run out of memory: Java heap space. -Xmx is 768 MB;"));
    assertTrue(output(), output().contains("hbase.bucketcache.l2.size"));
    assertTrue(output(),
      output().contains("run-local: the log is " + folder.resolve("logs/run.log")));
  }

  @Test
  public void testPortInUseEndsTheRunWithASentence() throws Exception {
    try (ServerSocket taken = new ServerSocket(zooKeeperPort)) {
      start(true, 1);
      assertEquals(RunLocal.FAILED, awaitEnd());
    }
    assertTrue(output(), output().contains("run-local: Port " + zooKeeperPort
      + " (hbase.zookeeper.property.clientPort) is in use;"));
  }

  private void assertSecondRunIsRefused() throws Exception {
    Process first = process;
    Path firstOutput = output;
    start(true, 1);
    assertEquals(RunLocal.FAILED, awaitEnd());
    assertTrue(output(), output().contains("run-local: Another run (process " + first.pid()
      + ") is using " + folder + "; stop it first."));
    process = first;
    output = firstOutput;
  }

  /**
   * Asserts the format that dropin reads: one attribute per line, each module from its own jar or
   * folder.
   */
  private static void assertSaysWhatRuns(String jmx) {
    for (String attribute : List.of("\"Version\" *: *\"" + VersionInfo.getVersion() + "\"",
      "\"CommonJar\" *: *\"[^\"]*/hbase-common/[^\"]*\"",
      "\"ClientJar\" *: *\"[^\"]*/hbase-client/[^\"]*\"",
      "\"ServerJar\" *: *\"[^\"]*/hbase-server/[^\"]*\"")) {
      assertTrue(attribute + " in " + jmx,
        Pattern.compile("(?m)^ *" + attribute + ",?$").matcher(jmx).find());
    }
  }

  private void assertHitsInBothTiers() throws Exception {
    for (String tier : List.of("L1", "L2")) {
      Matcher row = Pattern.compile(
        "(?m)^  " + tier + " +(\\S+)( +[\\d.,]+){2} +([\\d,]+) +([\\d,]+) +([\\d,]+) ")
        .matcher(output());
      assertTrue(output(), row.find());
      assertTrue(output(), Long.parseLong(row.group(5).replace(",", "")) > 0);
      boolean first = tier.equals("L1");
      assertEquals(output(), first ? "ByteBufferIOEngine" : "FileIOEngine", row.group(1));
      // Data is in L2, and what is hot of it in L1 too, beside the meta blocks.
      long blocks = Long.parseLong(row.group(3).replace(",", ""));
      long data = Long.parseLong(row.group(4).replace(",", ""));
      assertTrue(output(), first ? data > 0 && data < blocks : data == blocks);
      // Data blocks enter L1 by promotion only; a figure that L2 does not have is a dash.
      Matcher moves = Pattern.compile("(?m)^  " + tier + " .* %  +(\\S+) +(\\S+) +(\\S+)$")
        .matcher(output());
      assertTrue(output(), moves.find());
      if (first) {
        assertTrue(output(), Long.parseLong(moves.group(1).replace(",", "")) >= data);
      } else {
        assertEquals(output(), "-", moves.group(1));
      }
    }
  }
}
