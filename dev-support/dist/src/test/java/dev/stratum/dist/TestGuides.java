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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.hadoop.hbase.regionserver.operations.ServerInfoMXBean;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.junit.BeforeClass;
import org.junit.Test;

/** The guides against the classes: what is there is described, and what is described is there. */
public class TestGuides {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root"));
  private static final Path DOCS = ROOT.resolve("docs");

  /** A key as a whole: words of small letters between dots. */
  private static final Pattern KEY = Pattern.compile("(hbase|hfile|dfs)(\\.[a-z0-9-]+)+");

  /** The end of a key, to come after one of the prefixes that its class has, too. */
  private static final Pattern NAME = Pattern.compile("[a-z0-9]+([.-][a-z0-9]+)*");

  private static final Pattern CODE = Pattern.compile("`([^`]*)`");

  /** The classes of this repository, without those within others. */
  private static final List<Class<?>> OURS = new ArrayList<>();

  /** All that the published classes of the base have in their constants, in one. */
  private static String published;

  @BeforeClass
  public static void readClasses() throws Exception {
    for (String module : Dropin.MODULES) {
      Path sources = ROOT.resolve("hbase-" + module + "/src/main/java");
      try (Stream<Path> files = Files.walk(sources)) {
        for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".java"))
          .sorted()::iterator) {
          String name = sources.relativize(file).toString().replace('/', '.');
          if (!name.endsWith("package-info.java")) {
            OURS.add(Class.forName(name.substring(0, name.length() - ".java".length()), false,
              TestGuides.class.getClassLoader()));
          }
        }
      }
    }
    assertTrue("classes: " + OURS.size(), OURS.size() > 50);
    StringBuilder all = new StringBuilder();
    for (String module : Dropin.MODULES) {
      Path jar = Path.of(System.getProperty("stratum.published"),
        "hbase-" + module + "-" + System.getProperty("stratum.base") + ".jar");
      try (JarFile file = new JarFile(jar.toFile())) {
        for (JarEntry entry : Collections.list(file.entries())) {
          if (entry.getName().endsWith(".class")) {
            try (InputStream in = file.getInputStream(entry)) {
              strings(in).forEach(string -> all.append('\n').append(string));
            }
          }
        }
      }
    }
    published = all.append('\n').toString();
  }

  /** Returns the strings among a class's constants. */
  private static Set<String> strings(InputStream classFile) throws IOException {
    DataInputStream in = new DataInputStream(classFile);
    in.readInt();
    in.readInt();
    int count = in.readUnsignedShort();
    String[] utf8 = new String[count];
    List<Integer> indexes = new ArrayList<>();
    int next = 1;
    while (next < count) {
      int i = next++;
      switch (in.readUnsignedByte()) {
        case 1 -> utf8[i] = in.readUTF();
        case 8 -> indexes.add(in.readUnsignedShort());
        case 5, 6 -> {
          in.readLong();
          // It takes two places.
          next++;
        }
        case 7, 16, 19, 20 -> in.readUnsignedShort();
        case 15 -> in.skipNBytes(3);
        default -> in.readInt();
      }
    }
    Set<String> strings = new TreeSet<>();
    indexes.forEach(index -> strings.add(utf8[index]));
    return strings;
  }

  /** Returns the strings among the constants of a class and of those within it. */
  private static Set<String> stringsOf(Class<?> type) throws IOException {
    Set<String> strings = new TreeSet<>();
    String resource = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = TestGuides.class.getResourceAsStream(resource)) {
      strings.addAll(strings(in));
    }
    for (Class<?> nested : type.getDeclaredClasses()) {
      strings.addAll(stringsOf(nested));
    }
    return strings;
  }

  private static boolean isStock(String key) {
    return published.contains("\n" + key + "\n");
  }

  private static Set<String> constants(Class<?> type) throws IllegalAccessException {
    Set<String> constants = new TreeSet<>();
    for (Field field : type.getDeclaredFields()) {
      int modifiers = field.getModifiers();
      if (
        field.getType() == String.class && Modifier.isStatic(modifiers)
          && Modifier.isFinal(modifiers)
      ) {
        field.setAccessible(true);
        constants.add((String) field.get(null));
      }
    }
    return constants;
  }

  /** Returns the keys in the first cells of the tables of configuration.md. */
  private static Set<String> documentedKeys() throws IOException {
    Set<String> keys = new TreeSet<>();
    for (String line : Files.readAllLines(DOCS.resolve("configuration.md"))) {
      if (line.startsWith("| `")) {
        String last = "";
        Matcher code = CODE.matcher(line.substring(0, line.indexOf('|', 1)));
        while (code.find()) {
          String key = code.group(1);
          if (key.endsWith(".…")) {
            // This is another prefix for the name of the key before it.
            String prefix = key.substring(0, key.length() - 1);
            int same = last.indexOf("." + prefix.charAt(0)) + 1;
            key = last.substring(0, same) + prefix + last.substring(same + prefix.length());
          } else if (key.endsWith(".NAME") || key.endsWith("NAME")) {
            continue;
          }
          keys.add(key);
          last = key;
        }
      }
    }
    return keys;
  }

  @Test
  public void testConfigurationNamesEachKeyOfTheClasses() throws Exception {
    Set<String> documented = documentedKeys();
    Set<String> missing = new TreeSet<>();
    int keys = 0;
    for (Class<?> type : OURS) {
      Set<String> constants = constants(type);
      List<String> prefixes =
        constants.stream().filter(c -> c.matches("hbase[a-z0-9.]*\\.")).toList();
      for (String constant : constants) {
        if (KEY.matcher(constant).matches()) {
          keys++;
          if (!documented.contains(constant) && !isStock(constant)) {
            missing.add(constant);
          }
        } else if (type.getSimpleName().endsWith("Settings") && !prefixes.isEmpty()
          && constant.contains(".") && NAME.matcher(constant).matches()) {
          keys++;
          if (prefixes.stream().noneMatch(prefix -> documented.contains(prefix + constant))) {
            missing.add(prefixes + constant);
          }
        }
      }
    }
    assertEquals("missing in docs/configuration.md", Set.of(), missing);
    assertTrue("keys found: " + keys, keys >= 20);
  }

  @Test
  public void testConfigurationNamesNoKeyThatNothingReads() throws Exception {
    Set<String> read = new TreeSet<>();
    List<String> prefixes = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (Class<?> type : OURS) {
      for (String constant : stringsOf(type)) {
        if (KEY.matcher(constant).matches()) {
          read.add(constant);
        } else if (constant.matches("hbase[a-z0-9.]*\\.")) {
          prefixes.add(constant);
        }
      }
      for (String constant : constants(type)) {
        if (NAME.matcher(constant).matches()) {
          names.add(constant);
        }
      }
    }
    Configuration hdfs = new HdfsConfiguration();
    Set<String> unknown = new TreeSet<>();
    Set<String> documented = documentedKeys();
    for (String key : documented) {
      boolean known = read.contains(key) || isStock(key) || hdfs.getRaw(key) != null;
      for (String prefix : prefixes) {
        String name = key.startsWith(prefix) ? key.substring(prefix.length()) : "";
        // What a tier has under its own prefix, the bucket cache has under the common one.
        known |= names.contains(name) || !name.isEmpty() && isStock("hbase.bucketcache." + name);
      }
      if (!known) {
        unknown.add(key);
      }
    }
    assertEquals("in docs/configuration.md, and read by nothing", Set.of(), unknown);
    assertTrue("keys found: " + documented.size(), documented.size() >= 20);
  }

  private static Map<String, String> values(Configuration conf) {
    Map<String, String> values = new TreeMap<>();
    conf.forEach(entry -> values.put(entry.getKey(), entry.getValue()));
    return values;
  }

  /** A default that is computed, or is that of another key, has no entry. */
  @Test
  public void testDefaultsFileHasEachKeyWithAFixedDefaultAndIsStocksOtherwise() throws Exception {
    Configuration stock = new Configuration(false);
    stock.addResource(new URL("jar:" + Path.of(System.getProperty("stratum.published"),
      "hbase-common-" + System.getProperty("stratum.base") + ".jar").toUri()
      + "!/hbase-default.xml"));
    Map<String, String> expected = values(stock);
    assertTrue("keys of stock: " + expected.size(), expected.size() > 200);
    expected.put("hbase.defaults.for.version", System.getProperty("stratum.version"));
    Pattern row = Pattern.compile(
      "\\| `(hbase\\.[^`]*)`[^|]* \\| `(?!hbase\\.)([^`]*)`[^|]* \\|.*");
    int keys = 0;
    for (String line : Files.readAllLines(DOCS.resolve("configuration.md"))) {
      Matcher matcher = row.matcher(line);
      if (matcher.matches()) {
        assertEquals(matcher.group(1), null, expected.put(matcher.group(1), matcher.group(2)));
        keys++;
      }
    }
    assertTrue("keys: " + keys, keys > 30);
    Configuration defaults = new Configuration(false);
    defaults.addResource("hbase-default.xml");
    assertEquals(expected, values(defaults));
  }

  /** Returns the section of metrics.md that says the bean's name, without sections within it. */
  private static String section(String bean) throws IOException {
    List<String> found = new ArrayList<>();
    for (String section : Files.readString(DOCS.resolve("metrics.md")).split("\n(?=##+ )")) {
      if (section.contains(bean + "`")) {
        found.add(section);
      }
    }
    assertEquals("sections of docs/metrics.md that name " + bean, 1, found.size());
    return found.get(0);
  }

  /** Returns the names in the first cells of the section's tables. */
  private static Set<String> documentedNames(String section) {
    Set<String> names = new TreeSet<>();
    for (String line : section.split("\n")) {
      if (line.startsWith("| `")) {
        Matcher code = CODE.matcher(line.substring(0, line.indexOf('|', 1)));
        while (code.find()) {
          names.add(code.group(1).replaceFirst("_\\*$", ""));
        }
      }
    }
    return names;
  }

  @Test
  public void testMetricsAreThoseThatAreRegistered() throws Exception {
    int registries = 0;
    for (Class<?> type : OURS) {
      for (Field field : type.getDeclaredFields()) {
        if (
          field.getType() != MetricRegistryInfo.class || !Modifier.isStatic(field.getModifiers())
        ) {
          continue;
        }
        field.setAccessible(true);
        MetricRegistryInfo info = (MetricRegistryInfo) field.get(null);
        registries++;
        if (info.getMetricsName().equals("BlockCacheTiers")) {
          // These names are put together while it runs; TestMetricsGuide runs it.
          continue;
        }
        Set<String> registered = new TreeSet<>();
        Set<String> strings = new TreeSet<>(stringsOf(type));
        if (type.getSuperclass() != Object.class) {
          strings.addAll(stringsOf(type.getSuperclass()));
        }
        for (String string : strings) {
          if (
            string.matches("[A-Z][A-Za-z0-9]+(_[A-Za-z0-9.]+)*")
              && !string.equals(info.getMetricsName())
          ) {
            registered.add(string);
          }
        }
        String bean = "Hadoop:service=HBase,name=" + info.getMetricsJmxContext();
        assertEquals(bean, registered, documentedNames(section(bean)));
      }
    }
    assertTrue("registries found: " + registries, registries >= 6);
  }

  /** The names of these are put together when they are registered. */
  @Test
  public void testMetricsOfGroupsAreThoseThatAreRegistered() throws Exception {
    GroupMetrics.ofMutations();
    GroupMetrics.ofIncrements();
    int registries = 0;
    for (MetricRegistryInfo info : MetricRegistries.global().getMetricRegistryInfos()) {
      if (Set.of("WriteGroup", "Counter").contains(info.getMetricsName())) {
        registries++;
        String bean = "Hadoop:service=HBase,name=" + info.getMetricsJmxContext();
        assertEquals(bean, MetricRegistries.global().get(info).get().getMetrics().keySet(),
          documentedNames(section(bean)));
      }
    }
    assertEquals(2, registries);
  }

  @Test
  public void testAttributesAreThoseOfTheBeans() throws Exception {
    Set<String> attributes = new TreeSet<>();
    for (Method method : ServerInfoMXBean.class.getMethods()) {
      attributes.add(method.getName().substring("get".length()));
    }
    assertEquals(attributes, documentedNames(section("Hadoop:service=HBase,name=Info")));
  }

  @Test
  public void testLinksWithinTheRepositoryLeadSomewhere() throws Exception {
    List<Path> pages = new ArrayList<>(Sources.pages(ROOT));
    pages.add(ROOT.resolve("patches/README.md"));
    pages.addAll(Sources.files(DOCS.resolve("upstream"), ".md"));
    Map<String, Boolean> links = Sources.links(ROOT, pages);
    assertTrue("links found: " + links.size(), links.size() > 50);
    links.values().removeIf(leads -> leads);
    assertEquals(Map.of(), links);
  }
}
