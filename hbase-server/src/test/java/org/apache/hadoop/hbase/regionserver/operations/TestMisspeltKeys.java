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
import static org.junit.Assume.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestMisspeltKeys {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMisspeltKeys.class);

  private static final Pattern KEY = Pattern.compile("(hbase|hfile|dfs)(\\.[a-z0-9_-]+)+");

  private final Configuration conf = HBaseConfiguration.create();

  private void assertMeant(String misspelt, String meant) {
    Configuration one = new Configuration(conf);
    one.set(misspelt, "x");
    assertEquals(Collections.singletonList(misspelt
      + " is x; no key has this name, so the value is ignored. Did you mean " + meant + "?"),
      SettingsCheck.misspelt(one));
  }

  @Test
  public void testTypingErrorNamesTheKey() {
    assertMeant("hbase.bucketcache.composite.promotoin", "hbase.bucketcache.composite.promotion");
    assertMeant("hbase.regionserver.paralel.get.enabled",
      "hbase.regionserver.parallel.get.enabled");
    assertMeant("hbase.bucketcache.l2.persistant.path", "hbase.bucketcache.l2.persistent.path");
    assertMeant("hbase.bucketcache.compsite.enabled", "hbase.bucketcache.composite.enabled");
    assertMeant("hbase.bucketcache.l2.writer.threds", "hbase.bucketcache.l2.writer.threads");
    assertMeant("hbase.bucketcache.l2.acceptfactr", "hbase.bucketcache.l2.acceptfactor");
    assertMeant("hbase.segmentcache.segments.mb", "hbase.segmentcache.segment.mb");
    assertMeant("hbase.segmentcahce.buffers", "hbase.segmentcache.buffers");
    assertMeant("hbase.wal.async.sync.byte", "hbase.wal.async.sync.bytes");
    assertMeant("hbase.regionserver.increment.coalesce.enable",
      "hbase.regionserver.increment.coalesce.enabled");
    assertMeant("hbase.server.allocator.size.class.enabled",
      "hbase.server.allocator.size.classes.enabled");
    assertMeant("hbase.client.netty.flush.consolidaton.enabled",
      "hbase.client.netty.flush.consolidation.enabled");
  }

  @Test
  public void testKeyOfAFeatureThatIsSimilarToNoneIsNamed() {
    conf.set("hbase.segmentcache.q", "1");
    assertEquals(Collections.singletonList("hbase.segmentcache.q is 1; no key has this name, so "
      + "the value is ignored. Correct the name, or remove the key."),
      SettingsCheck.misspelt(conf));
  }

  @Test
  public void testOtherKeysAreIgnored() {
    conf.set("hbase.bucketcache.l2", "1");
    conf.set("hbase.coprocessor.of.ours.enabled", "true");
    conf.set("com.example.size", "1");
    assertEquals(Collections.emptyList(), SettingsCheck.misspelt(conf));
  }

  @Test
  public void testDefaultsAreNoneOfAnOperator() {
    assertEquals(Collections.emptyList(), SettingsCheck.misspelt(conf));
    conf.set("hbase.bucketcache.composite.promotoin", "none", "hbase-default.xml");
    assertEquals(Collections.emptyList(), SettingsCheck.misspelt(conf));
  }

  @Test
  public void testKeysOfStockAreNoErrors() throws Exception {
    Set<String> keys = new TreeSet<>();
    conf.forEach(entry -> keys.add(entry.getKey()));
    assertTrue(keys.toString(), keys.contains("hbase.regionserver.handler.count"));
    for (Class<?> type : Arrays.<Class<?>> asList(HRegionServer.class, HBaseConfiguration.class,
      ConnectionFactory.class)) {
      keys.addAll(constants(type));
    }
    assertTrue("keys: " + keys.size(), keys.size() > 800);
    assertTrue(keys.toString(), keys.contains("hbase.bucketcache.acceptfactor"));
    // Each tier has the keys of the plain bucket cache.
    String common = "hbase.bucketcache.";
    keys.addAll(keys.stream().filter(key -> key.startsWith(common))
      .map(key -> key.substring(common.length()))
      // Stock reads those of the combined cache only to report that they are obsolete. A tier is
      // not disabled for good, however long its device fails.
      .filter(
        name -> !name.matches("(l1|l2|composite)[.].*|.*combinedcache.*|.*errors[.]tolerated.*"))
      .flatMap(name -> Stream.of(common + "l1." + name, common + "l2." + name))
      .collect(Collectors.toSet()));
    assertNoErrors(keys);
  }

  @Test
  public void testKeysOfTheGuideAreKnown() throws IOException {
    Path guide = Paths.get("..", "docs", "configuration.md");
    // The sources of a part of the series have no guides.
    assumeTrue(Files.exists(guide));
    Set<String> keys = new TreeSet<>();
    for (String line : Files.readAllLines(guide)) {
      keys.addAll(keys(line.replace("`l2.…`", "")));
    }
    assertTrue("keys: " + keys.size(), keys.size() > 40);
    assertNoErrors(keys);
    // The constants from which the names are taken have to be complete.
    MisspeltKeys misspelt = new MisspeltKeys(SettingsCheck.keyClasses());
    List<String> unknown = keys.stream()
      .filter(key -> key.contains(".composite.") || key.contains("segmentcache")
        || key.contains("bucketcache.l") || key.contains("parallel.get")
        || key.contains("wal.async") || key.contains("coalesce")
        || key.contains("consolidation") || key.contains("size.classes")
        || key.contains("rs.prefetch") || key.contains("default.durability"))
      .filter(key -> !misspelt.isKnown(key)).collect(Collectors.toList());
    assertEquals(Collections.emptyList(), unknown);
  }

  private void assertNoErrors(Set<String> keys) {
    Configuration all = new Configuration(conf);
    keys.forEach(key -> all.set(key, "1"));
    assertEquals(Collections.emptyList(), SettingsCheck.misspelt(all));
  }

  private static Set<String> keys(String text) {
    Set<String> keys = new TreeSet<>();
    Matcher matcher = KEY.matcher(text);
    while (matcher.find()) {
      char next = matcher.end() < text.length() ? text.charAt(matcher.end()) : ' ';
      // What another name follows is a prefix.
      if (next != '.' && !Character.isLetter(next)) {
        keys.add(matcher.group());
      }
    }
    return keys;
  }

  /** Returns the string constants that look like keys, of all classes beside this one. */
  private static Set<String> constants(Class<?> type) throws Exception {
    Path classes =
      Paths.get(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(classes)) {
      return constants(classes);
    }
    try (FileSystem jar = FileSystems.newFileSystem(classes, (ClassLoader) null)) {
      return constants(jar.getPath("/"));
    }
  }

  private static Set<String> constants(Path root) throws IOException {
    List<Path> classes;
    try (Stream<Path> files = Files.walk(root)) {
      classes = files.filter(file -> file.toString().endsWith(".class"))
        .collect(Collectors.toList());
    }
    Set<String> keys = new TreeSet<>();
    for (Path file : classes) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (InputStream in = Files.newInputStream(file)) {
        byte[] buffer = new byte[1 << 16];
        for (int n; (n = in.read(buffer)) > 0;) {
          bytes.write(buffer, 0, n);
        }
      }
      keys.addAll(constants(bytes.toByteArray()));
    }
    return keys;
  }

  /** Finds CONSTANT_Utf8 entries: a tag of 1, a length of two bytes, and the text. */
  private static Set<String> constants(byte[] file) {
    Set<String> keys = new TreeSet<>();
    for (int i = 0; i + 3 < file.length; i++) {
      int length = (file[i + 1] & 0xff) << 8 | file[i + 2] & 0xff;
      if (file[i] == 1 && file[i + 3] == 'h' && i + 3 + length <= file.length) {
        String text = new String(file, i + 3, length, StandardCharsets.ISO_8859_1);
        if (KEY.matcher(text).matches()) {
          keys.add(text);
        }
      }
    }
    return keys;
  }
}
