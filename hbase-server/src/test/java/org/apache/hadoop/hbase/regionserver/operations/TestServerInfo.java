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
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.MetricsTag;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestServerInfo {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestServerInfo.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testIsInJmxHoweverManyServersAProcessHas() throws Exception {
    ServerInfo.register();
    ServerInfo.register();
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName name = new ObjectName("Hadoop:service=HBase,name=Info");
    assertEquals(VersionInfo.getVersion(), beans.getAttribute(name, "Version"));
    assertEquals(VersionInfo.getRevision(), beans.getAttribute(name, "Revision"));
    for (String module : new String[] { "Common", "Client", "Server" }) {
      String origin = (String) beans.getAttribute(name, module + "Jar");
      assertTrue(origin, new File(origin).exists());
      assertEquals(ServerInfo.build(origin), beans.getAttribute(name, module + "Build"));
    }
  }

  @Test
  public void testBuildInfoHasTheVersionAsTag() {
    MetricsCollectorImpl collector = new MetricsCollectorImpl();
    new BuildInfoSource().getMetrics(collector, true);
    assertEquals(1, collector.getRecords().size());
    MetricsRecord record = collector.getRecords().get(0);
    assertEquals("Build", record.name());
    AbstractMetric metric = record.metrics().iterator().next();
    assertEquals("Info", metric.name());
    assertEquals(1, metric.value());
    Map<String, String> tags = new TreeMap<>();
    for (MetricsTag tag : record.tags()) {
      tags.put(tag.name(), tag.value());
    }
    assertEquals(VersionInfo.getVersion(), tags.get("version"));
    assertEquals(VersionInfo.getRevision(), tags.get("revision"));
    for (String value : tags.values()) {
      assertTrue("legal without escapes: " + value, value.matches("[^\"\\\\\n]+"));
    }
  }

  @Test
  public void testABuildIsWhatTheManifestSays() throws IOException {
    assertEquals("2.6.4 ab12", ServerInfo.build(jar("2.6.4", "ab12")));
    assertEquals("2.6.4", ServerInfo.build(jar("2.6.4", null)));
    assertEquals("", ServerInfo.build(jar(null, null)));
  }

  @Test
  public void testWhatIsNoJarHasNoBuild() throws IOException {
    assertEquals("", ServerInfo.build(folder.getRoot().getPath()));
    assertEquals("", ServerInfo.build("http://example.org/a.jar"));
    File text = folder.newFile();
    Files.write(text.toPath(), new byte[] { 1, 2, 3 });
    assertEquals("", ServerInfo.build(text.getPath()));
  }

  private String jar(String version, String checksum) throws IOException {
    Manifest manifest = new Manifest();
    Attributes main = manifest.getMainAttributes();
    main.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    if (version != null) {
      main.put(Attributes.Name.IMPLEMENTATION_VERSION, version);
    }
    if (checksum != null) {
      main.putValue("Source-Checksum", checksum);
    }
    File jar = folder.newFile();
    try (OutputStream out = Files.newOutputStream(jar.toPath());
      JarOutputStream entries = new JarOutputStream(out, manifest)) {
      entries.finish();
    }
    return jar.getPath();
  }

  /** The metrics system refuses a second source with this name. */
  @Test
  public void testAMetricThatCannotBeRegisteredIsNoFailure() {
    DefaultMetricsSystem.initialize("HBase");
    BuildInfoSource.register();
    BuildInfoSource.register();
  }
}
