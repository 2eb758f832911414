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
package org.apache.hadoop.hbase.regionserver.operations;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestSizingTool {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSizingTool.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private String output;
  private String errors;

  private int run(String... args) throws Exception {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    ByteArrayOutputStream failed = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(printed, true, "UTF-8"));
      System.setErr(new PrintStream(failed, true, "UTF-8"));
      return SizingTool.run(args);
    } finally {
      System.setOut(out);
      System.setErr(err);
      output = printed.toString("UTF-8");
      errors = failed.toString("UTF-8");
    }
  }

  @Test
  public void testPrintsPartsHitRatiosAndSettings() throws Exception {
    assertEquals(0, run("--memory", "64g", "--device", "1t", "--data", "3t", "--block", "32k"));
    assertTrue(output, output.startsWith("memory                  64.0 GB"));
    assertTrue(output, output.contains("% in L1 or L2\n"));
    assertTrue(output, output.contains(
      "<property><name>hbase.segmentcache.expected.block.kb</name><value>32</value></property>"));
    assertTrue(output, output.contains("<property><name>hbase.bucketcache.l2.ioengine</name>"
      + "<value>segments:/ssd1/hbase.segments</value></property>"));
    assertTrue(output, output.contains(" -XX:MaxDirectMemorySize="));
    assertEquals("", errors);
  }

  @Test
  public void testWritesFilesThatHBaseReads() throws Exception {
    File preset = new File(folder.getRoot(), "preset");
    assertEquals(0, run("--memory", "32g", "--device", "1t", "--load", "ingest", "--paths",
      "/a/cache,/b/cache", "--write", preset.getPath()));
    Configuration conf = new Configuration(false);
    conf.addResource(new Path(new File(preset, "hbase-site.xml").toURI()));
    assertEquals("segments:/a/cache,/b/cache", conf.get("hbase.bucketcache.l2.ioengine"));
    assertEquals("0.5", conf.get("hbase.regionserver.global.memstore.size"));
    String env = new String(
      Files.readAllBytes(new File(preset, "hbase-env.sh").toPath()), StandardCharsets.UTF_8);
    assertTrue(env, env.startsWith("export HBASE_REGIONSERVER_OPTS=\"$HBASE_REGIONSERVER_OPTS \\"));
    String site = new String(
      Files.readAllBytes(new File(preset, "hbase-site.xml").toPath()), StandardCharsets.UTF_8);
    assertFalse(site, site.contains(folder.getRoot().getPath()));
  }

  @Test
  public void testCounterCoalescingIsLeftToTheOperator() throws Exception {
    String key = "hbase.regionserver.increment.coalesce.enabled";
    String groups = "hbase.regionserver.write.groups.enabled";
    String comment = "<!-- Enable counter coalescing last, when all servers run the fork:\n"
      + "<property><name>" + key + "</name><value>true</value></property>\n-->\n";
    for (String load : new String[] { "mixed", "ingest" }) {
      assertEquals(0, run("--memory", "64g", "--device", "1t", "--load", load));
      assertTrue(output, output.contains(comment));
      File preset = new File(folder.getRoot(), load);
      assertEquals(0, run("--memory", "64g", "--device", "1t", "--load", load, "--write",
        preset.getPath()));
      Configuration conf = new Configuration(false);
      conf.addResource(new Path(new File(preset, "hbase-site.xml").toURI()));
      assertNull(conf.get(key));
      assertEquals("true", conf.get(groups));
      assertEquals("0", conf.get("hfile.block.cache.size"));
    }
    assertEquals(0, run("--memory", "64g", "--device", "1t", "--load", "serving"));
    assertFalse(output, output.contains(key));
    assertFalse(output, output.contains(groups));
  }

  @Test
  public void testWrongArgumentsAreNamed() throws Exception {
    assertEquals(2, run("--memory", "64g"));
    assertTrue(errors, errors.contains("Missing required option: device"));
    assertEquals(2, run("--memory", "64 GB", "--device", "1t"));
    assertTrue(errors, errors.contains("--memory is 64 GB; must be from 1g to 64t"));
    assertEquals(2, run("--memory", "64g", "--device", "1t", "--load", "reading"));
    assertTrue(errors,
      errors.contains("--load is reading; must be serving, ingest or mixed."));
    assertEquals(2, run("--memory", "64g", "--device", "1t", "1g"));
    assertTrue(errors, errors.contains("Unrecognized argument: 1g"));
    assertEquals(2, run("--memory", "1g", "--device", "1t", "--heap", "1g"));
    assertTrue(errors, errors.contains("leaves no 64 MB for L1"));
  }
}
