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
import static org.junit.Assert.fail;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestSettingsCheck {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSettingsCheck.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final Configuration conf = HBaseConfiguration.create();

  @Test
  public void testDefaultsAreNotRefused() {
    assertEquals(Collections.emptyList(), SettingsCheck.refused(conf));
  }

  @Test
  public void testEachClassThatReadsSettingsIsListed() throws Exception {
    Set<Class<?>> found = settingsClasses();
    assertTrue(found.toString(), found.contains(CompositeBucketCacheSettings.class));
    assertTrue(found.toString(), found.size() >= 6);
    found.removeAll(SettingsCheck.classes());
    assertEquals("not listed in SettingsCheck", Collections.emptySet(), found);
  }

  /** Returns the classes of hbase-server that end in Settings and check a configuration. */
  private static Set<Class<?>> settingsClasses() throws Exception {
    Path classes = Paths.get(
      SettingsCheck.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(classes)) {
      return settingsClasses(classes);
    }
    try (FileSystem jar = FileSystems.newFileSystem(classes, (ClassLoader) null)) {
      return settingsClasses(jar.getPath("/"));
    }
  }

  private static Set<Class<?>> settingsClasses(Path root) throws Exception {
    List<String> names;
    try (Stream<Path> files = Files.walk(root)) {
      names = files.map(file -> root.relativize(file).toString())
        .filter(name -> name.matches("org.apache.hadoop.hbase.[^$]*Settings.class"))
        .map(name -> name.replace('/', '.').substring(0, name.length() - ".class".length()))
        .collect(Collectors.toList());
    }
    Set<Class<?>> found = new HashSet<>();
    for (String name : names) {
      Class<?> type = Class.forName(name);
      for (Method method : type.getDeclaredMethods()) {
        if (
          Modifier.isStatic(method.getModifiers())
            && (method.getName().equals("of") || method.getName().equals("check"))
            && Arrays.equals(method.getParameterTypes(), new Class<?>[] { Configuration.class })
        ) {
          found.add(type);
        }
      }
    }
    return found;
  }

  @Test
  public void testMisspeltBooleanIsRefusedOnce() {
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    Map<String, Boolean> defaults = new HashMap<>();
    defaults.put("hbase.bucketcache.composite.enabled", false);
    defaults.put("hbase.bucketcache.checksum.enabled", true);
    defaults.put("hbase.bucketcache.l1.checksum.enabled", true);
    defaults.put("hbase.bucketcache.l2.checksum.enabled", true);
    defaults.put("hbase.server.allocator.size.classes.enabled", false);
    defaults.put("hbase.server.netty.flush.consolidation.enabled", false);
    defaults.put("hbase.client.netty.flush.consolidation.enabled", false);
    defaults.put("hbase.regionserver.parallel.get.enabled", false);
    defaults.put("hbase.regionserver.increment.coalesce.enabled", false);
    defaults.forEach((key, missing) -> {
      Configuration misspelt = new Configuration(conf);
      misspelt.setBoolean("hbase.bucketcache.composite.enabled", true);
      misspelt.set(key, "ture");
      assertEquals(
        Collections.singletonList(key + " is ture; must be true or false. Set one of these, or "
          + "remove the key for the default of " + missing + "."),
        SettingsCheck.refused(misspelt));
      assertEquals(Collections.emptyList(), SettingsCheck.warnings(misspelt));
    });
  }

  @Test
  public void testTiersThatAreNotInUseAreNotLookedAt() {
    conf.set("hbase.bucketcache.l1.size", "a lot");
    assertEquals(Collections.emptyList(), SettingsCheck.refused(conf));
  }

  @Test
  public void testDirectMemoryForAllComponentsIsRequired() {
    long limit = DirectMemoryUtils.getDirectMemorySize() >> 20;
    conf.setLong("hbase.bucketcache.l1.size", limit - 8);
    conf.set("hbase.bucketcache.l2.ioengine", "mmap:" + folder.getRoot() + "/l2");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.server.allocator.max.buffer.count", "16");
    conf.set("hbase.server.allocator.buffer.size", "1048576");
    conf.set("hbase.regionserver.offheap.global.memstore.size", "7");
    assertEquals("no tiers in use", Collections.emptyList(), SettingsCheck.refused(conf));
    conf.set("hbase.bucketcache.composite.enabled", "true");
    assertEquals(Collections.singletonList("hbase.bucketcache.l1.size is " + (limit - 8)
      + "; must be within the " + limit + " MB of direct memory of this process, and "
      + "hbase.bucketcache.l1.size=" + (limit - 8) + " (" + (limit - 8) + " MB) + "
      + "hbase.regionserver.offheap.global.memstore.size=7 (7 MB) + "
      + "hbase.server.allocator.max.buffer.count=16 of hbase.server.allocator.buffer.size=1048576"
      + " (16 MB) make " + (limit + 15) + " MB. Lower one of them, or raise "
      + "-XX:MaxDirectMemorySize to " + (limit + 15) + "m or more."), SettingsCheck.refused(conf));
    assertEquals(Collections.emptyList(), SettingsCheck.warnings(conf));
    conf.set("hbase.server.allocator.max.buffer.count", "1");
    assertEquals(Collections.emptyList(), SettingsCheck.refused(conf));
  }

  @Test
  public void testKeysWithoutTheKeyThatEnablesThemAreNamed() {
    Map<String, String> enabling = new LinkedHashMap<>();
    String composite = "hbase.bucketcache.composite.enabled";
    enabling.put("hbase.bucketcache.composite.promotion", composite);
    enabling.put("hbase.bucketcache.l1.size", composite);
    enabling.put("hbase.bucketcache.l2.ioengine", composite);
    enabling.put("hbase.segmentcache.buffers", composite);
    enabling.put("hbase.regionserver.parallel.get.threads",
      "hbase.regionserver.parallel.get.enabled");
    enabling.put("hbase.regionserver.point.get.on.connection.thread.max",
      "hbase.regionserver.point.get.enabled");
    enabling.keySet().forEach(key -> conf.set(key, "1"));
    conf.set("hbase.bucketcache.l2.ioengine", "segments:/ssd1/hbase.segments");
    List<String> found = SettingsCheck.withoutEffect(conf);
    assertEquals(found.toString(), enabling.size(), found.size());
    enabling.forEach((key, feature) -> assertTrue(key + " in " + found,
      found.contains(key + " is " + conf.get(key) + "; it has no effect, as " + feature
        + " is not true. Set that to true, or remove this key.")));
    assertTrue(SettingsCheck.startWarnings(conf).containsAll(found));
    // Then it is the operator's decision.
    enabling.values().forEach(feature -> conf.set(feature, "false"));
    assertEquals(Collections.emptyList(), SettingsCheck.withoutEffect(conf));
    assertTrue(SettingsCheck.warnings(conf).containsAll(found));
    enabling.values().forEach(feature -> conf.set(feature, "true"));
    assertEquals(Collections.emptyList(), SettingsCheck.withoutEffect(conf));
    conf.set(composite, "ture");
    assertEquals(Collections.emptyList(), SettingsCheck.withoutEffect(conf));
  }

  @Test
  public void testKeysOfARowCacheWithoutMemoryAreNamed() {
    conf.set("hbase.regionserver.row.cache.all.tables", "true");
    String sentence = "hbase.regionserver.row.cache.all.tables is true; it has no effect, as"
      + " hbase.regionserver.row.cache.size.mb is not above 0. Set that to a size in MB, or remove"
      + " this key.";
    assertEquals(Collections.singletonList(sentence), SettingsCheck.withoutEffect(conf));
    conf.set("hbase.regionserver.row.cache.size.mb", "1");
    assertEquals(Collections.emptyList(), SettingsCheck.withoutEffect(conf));
  }

  @Test
  public void testAllSettingsOfAllFeaturesAreCheckedInOneRun() {
    Map<String, String> wrong = new TreeMap<>();
    wrong.put("hbase.bucketcache.composite.promotion", "some");
    wrong.put("hbase.bucketcache.l1.size", "a lot");
    wrong.put("hbase.bucketcache.l1.writer.threads", "0");
    wrong.put("hbase.bucketcache.l2.ioengine", "tape:/dev/st0");
    wrong.put("hbase.bucketcache.l2.size", "-1");
    wrong.put("hbase.regionserver.increment.coalesce.enabled", "yes");
    wrong.put("hbase.regionserver.parallel.get.min.batch", "-1");
    wrong.put("hbase.regionserver.parallel.get.threads", "0");
    wrong.put("hbase.rs.prefetch.full.max.bytes", "1 GB");
    wrong.put("hbase.rs.prefetch.order", "random");
    wrong.put("hbase.server.allocator.size.classes.enabled", "on");
    wrong.put("hbase.wal.async.sync.interval.ms", "soon");
    wrong.forEach(conf::set);
    conf.set("hbase.bucketcache.composite.enabled", "true");
    assertEquals(new ArrayList<>(wrong.keySet()), SettingsCheck.refused(conf).stream()
      .map(sentence -> sentence.substring(0, sentence.indexOf(" is "))).sorted()
      .collect(Collectors.toList()));
  }

  @Test
  public void testFileThatIsNotWellFormedIsNamedWithItsLine() throws Exception {
    Path site = folder.getRoot().toPath().resolve("a site.xml");
    Files.write(site, Arrays.asList("<configuration>", "<property><name>a</name>",
      "</configuration>"));
    Configuration broken = new Configuration(false);
    broken.addResource(site.toUri().toURL());
    try {
      broken.size();
      fail("a file that is not well-formed was read");
    } catch (RuntimeException e) {
      String sentence = SettingsCheck.malformed(e);
      assertTrue(sentence, sentence.startsWith(site + ", line 3: "));
      assertTrue(sentence, sentence.endsWith(" Correct the file."));
    }
  }

  @Test
  public void testServerWithoutABlockCacheIsNamed() {
    assertEquals(Collections.emptyList(), SettingsCheck.warnings(conf));
    conf.set("hfile.block.cache.size", "0");
    assertEquals(Collections.singletonList("hfile.block.cache.size is 0 and"
      + " hbase.bucketcache.composite.enabled is not true; this server has no block cache. Set"
      + " hfile.block.cache.size to 0.40, or enable the composite bucket cache."),
      SettingsCheck.warnings(conf));
    assertEquals(SettingsCheck.warnings(conf), SettingsCheck.startWarnings(conf));
    conf.set("hfile.block.cache.memory.size", "16m");
    assertEquals(Collections.emptyList(), SettingsCheck.warnings(conf));
    conf.unset("hfile.block.cache.memory.size");
    conf.set("hbase.bucketcache.composite.enabled", "true");
    assertEquals(Collections.emptyList(), SettingsCheck.warnings(conf));
  }

  @Test
  public void testSettingsThatLeaveTheOriginalWithoutABlockCacheAreNamed() throws Exception {
    conf.set("hbase.bucketcache.composite.enabled", "true");
    assertEquals(Collections.emptyList(), SettingsCheck.rollback(conf));
    Path site = folder.getRoot().toPath().resolve("a site.xml");
    Files.write(site, Arrays.asList("<configuration><property><name>hfile.block.cache.size</name>",
      "<value>0</value></property></configuration>"));
    conf.addResource(site.toUri().toURL());
    conf.set("hbase.regionserver.global.memstore.size", "0.5");
    assertEquals(Collections.singletonList("hfile.block.cache.size is 0 in " + site
      + "; without the tiers of hbase.bucketcache.composite.enabled, a server has no block cache"
      + " with it. Set it to 0.30, or to less."), SettingsCheck.rollback(conf));
  }

  @Test
  public void testSettingsThatTheOriginalRefusesAreNamed() {
    conf.set("hbase.bucketcache.composite.enabled", "true");
    conf.set("hbase.regionserver.global.memstore.size", "0.7");
    List<String> found = SettingsCheck.rollback(conf);
    assertEquals(found.toString(), 1, found.size());
    assertTrue(found.get(0), found.get(0).contains("hbase.regionserver.global.memstore.size"));
  }

  @Test
  public void testWhatStockRefusesIsSaidToo() {
    conf.set("hbase.regionserver.global.memstore.size", "0.7");
    conf.set("hfile.block.cache.size", "0.7");
    List<String> refused = SettingsCheck.refused(conf);
    assertEquals(refused.toString(), 1, refused.size());
    assertTrue(refused.get(0), refused.get(0).contains("hfile.block.cache.size"));
  }
}
