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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import javax.management.ObjectName;
import org.apache.hadoop.hbase.regionserver.operations.ServerInfo;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.JSONBean;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The archive as an operator unpacks it, on a folder with the published jars and their company. */
@Category(LargeTests.class)
public class TestArchive {
  private static final String BASE = System.getProperty("stratum.base");
  private static final String VERSION = System.getProperty("stratum.version");
  private static final Path PUBLISHED = Path.of(System.getProperty("stratum.published"));

  @ClassRule
  public static final TemporaryFolder UNPACKED = new TemporaryFolder();

  private static Path kit;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Path home;
  private Path lib;
  private Path tools;
  private Dropin dropin;

  @BeforeClass
  public static void unpack() throws Exception {
    Process tar = new ProcessBuilder("tar", "-xzf", System.getProperty("stratum.archive"), "-C",
      UNPACKED.newFolder("where it was unpacked").toString()).inheritIO().start();
    assertEquals(0, tar.waitFor());
    kit = UNPACKED.getRoot().toPath().resolve("where it was unpacked/stratum-" + VERSION);
  }

  @Before
  public void makeHome() throws IOException {
    home = folder.newFolder("HBase home").toPath();
    lib = Files.createDirectory(home.resolve("lib"));
    Files.createDirectory(home.resolve("conf"));
    for (String module : Dropin.MODULES) {
      Files.copy(PUBLISHED.resolve(jar(module)), lib.resolve(jar(module)));
    }
    for (String element : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Path jar = Path.of(element);
      String name = jar.getFileName().toString();
      if (name.endsWith(".jar") && !name.contains(VERSION)) {
        Files.createSymbolicLink(lib.resolve(name), jar);
      }
    }
    tools = folder.newFolder("tools").toPath();
    dropin = new Dropin(kit.resolve("dropin"), tools);
    site();
    memory("-Xmx256m -XX:MaxDirectMemorySize=256m");
  }

  private static String jar(String module) {
    return "hbase-" + module + "-" + BASE + ".jar";
  }

  private void site(String... keysAndValues) throws IOException {
    StringBuilder site = new StringBuilder("<configuration>\n");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      site.append("<property><name>" + keysAndValues[i] + "</name><value>" + keysAndValues[i + 1]
        + "</value></property>\n");
    }
    Files.writeString(home.resolve("conf/hbase-site.xml"), site + "</configuration>\n");
  }

  private void memory(String options) throws IOException {
    Files.writeString(home.resolve("conf/hbase-env.sh"),
      "# export HBASE_OFFHEAPSIZE=1G\nexport HBASE_OPTS=\"$HBASE_OPTS -XX:+UseG1GC\"\n"
        + "export HBASE_REGIONSERVER_OPTS=\"" + options + "\"\n");
  }

  private int run(String command) throws Exception {
    return dropin.run(command, home.toString());
  }

  private void assertSays(String words) {
    assertTrue(words + " in " + dropin.output(), dropin.output().contains(words));
  }

  @Test
  public void testIsWhatItsSumsSayAndNothingElse() throws IOException {
    Set<String> summed = new TreeSet<>();
    for (String line : Files.readAllLines(kit.resolve("SHA256SUMS"))) {
      String name = line.substring(66);
      assertEquals(name, line.substring(0, 64), Dropin.sha256(kit.resolve(name)));
      summed.add(name);
    }
    Set<String> there = new TreeSet<>();
    try (Stream<Path> files = Files.walk(kit)) {
      files.filter(Files::isRegularFile).map(file -> kit.relativize(file).toString())
        .forEach(there::add);
    }
    assertTrue(there.remove("SHA256SUMS"));
    assertEquals(there, summed);
    assertTrue(Files.isExecutable(kit.resolve("dropin")));
    for (String name : List.of("LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "SECURITY.md",
      "docs/operations.md", "docs/configuration.md", "patches/series", "BUILD", "bom.json",
      "DEPENDENCIES", "monitoring/stratum-dashboard.json", "monitoring/stratum-rules.yml")) {
      assertTrue(name, there.contains(name));
    }
    for (String module : Dropin.MODULES) {
      assertTrue(module, there.contains("jars/hbase-" + module + "-" + VERSION + ".jar"));
    }
    // The number is that of the series file, which has one patch per line.
    long patches = Files.readAllLines(kit.resolve("patches/series")).stream()
      .filter(line -> line.endsWith(".patch")).count();
    assertEquals(patches, there.stream().filter(name -> name.startsWith("patches/jira/")).count());
  }

  @Test
  public void testLinksOfEachPageLeadToFilesOfTheArchive() throws IOException {
    Map<String, Boolean> links = Sources.links(kit, Sources.files(kit, ".md"));
    assertTrue(links.containsKey("docs/operations.md: ../monitoring/stratum-rules.yml"));
    links.values().removeIf(leads -> leads);
    assertEquals(Map.of(), links);
  }

  @Test
  public void testJarsSayTheVersionOfTheForkWhichIsNewerThanItsBase() {
    assertEquals(VERSION, VersionInfo.getVersion());
    assertTrue(VersionInfo.compareVersion(VERSION, BASE) > 0);
  }

  @Test
  public void testBillOfMaterialsHasTheJarsAndWhatTheyNeedWithLicences() throws IOException {
    JsonObject bom =
      JsonParser.parseString(Files.readString(kit.resolve("bom.json"))).getAsJsonObject();
    assertEquals("CycloneDX", bom.get("bomFormat").getAsString());
    Set<String> names = new TreeSet<>();
    Set<String> unlicensed = new TreeSet<>();
    String report = Files.readString(kit.resolve("DEPENDENCIES"));
    for (JsonElement element : bom.getAsJsonArray("components")) {
      JsonObject component = element.getAsJsonObject();
      String name = component.get("name").getAsString();
      names.add(name + " " + component.get("version").getAsString());
      if (!component.has("licenses") && !name.startsWith("hbase-")) {
        unlicensed.add(name);
      }
      String line = "  " + component.get("group").getAsString() + ":" + name + ":"
        + component.get("version").getAsString() + "\n";
      assertTrue(line, report.contains(line));
    }
    for (String module : Dropin.MODULES) {
      assertTrue(names.toString(), names.contains("hbase-" + module + " " + VERSION));
    }
    assertTrue(names.toString(), names.contains("hbase-http " + BASE));
    assertEquals(Set.of(), unlicensed);
  }

  @Test
  public void testInstallsOverThePublishedJarsAndRollsBack() throws Exception {
    Map<String, String> before = Dropin.listing(lib);
    assertEquals(dropin.output(), 0, run("check"));
    assertSays("HBase " + BASE + " in " + lib);
    assertFalse(dropin.output(), dropin.output().contains("is not the file published"));
    assertEquals(before, Dropin.listing(lib));
    assertEquals(dropin.output(), 0, run("install"));
    for (String module : Dropin.MODULES) {
      assertEquals(Dropin.sha256(kit.resolve("jars/hbase-" + module + "-" + VERSION + ".jar")),
        Dropin.sha256(lib.resolve(jar(module))));
    }
    assertEquals(dropin.output(), 0, run("check"));
    assertSays(VERSION + " is installed");
    assertEquals(dropin.output(), 0, run("rollback"));
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testSiteThatIsNotWellFormedIsNamedWithItsLine() throws Exception {
    Path site = home.resolve("conf/hbase-site.xml");
    Files.writeString(site, "<configuration>\n<property><name>a</name>\n</configuration>\n");
    assertEquals(dropin.output(), 1, run("check"));
    assertSays("bad   " + site + ", line 3: ");
    assertSays("1 of these would have to be corrected first.");
    assertFalse(dropin.output(), dropin.output().contains("Exception"));
  }

  @Test
  public void testSegmentsWithoutTheCompositeFailTheCheck() throws Exception {
    site("hbase.bucketcache.l2.ioengine", "segments:" + home.resolve("l2"));
    assertEquals(dropin.output(), 1, run("check"));
    assertSays("bad   hbase.bucketcache.l2.ioengine is segments:" + home.resolve("l2")
      + "; it has no effect, as hbase.bucketcache.composite.enabled is not true.");
  }

  @Test
  public void testVerifyTakesThePortOfTheSite() throws Exception {
    site("hbase.regionserver.info.port", "16099");
    server("Hadoop:service=HBase,name=NoSuchBean");
    assertEquals(dropin.output(), 0, run("verify"));
    assertSays("http://localhost:16099 runs no Stratum");
  }

  @Test
  public void testRollbackThatLeavesNoBlockCacheIsRefused() throws Exception {
    Map<String, String> before = Dropin.listing(lib);
    site("hbase.bucketcache.composite.enabled", "true", "hbase.bucketcache.l1.size", "64",
      "hbase.bucketcache.l2.ioengine", "file:" + home.resolve("l2"), "hbase.bucketcache.l2.size",
      "64", "hfile.block.cache.size", "0");
    assertEquals(dropin.output(), 0, run("install"));
    Map<String, String> installed = Dropin.listing(lib);
    assertEquals(dropin.output(), 1, run("rollback"));
    assertSays("bad   hfile.block.cache.size is 0 in " + home.resolve("conf/hbase-site.xml") + ";");
    assertSays("Set it to 0.40, or to less.");
    assertEquals(installed, Dropin.listing(lib));
    site("hbase.bucketcache.composite.enabled", "true");
    assertEquals(dropin.output(), 0, run("rollback"));
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testSettingsThatTheServerWouldRefuseStopTheInstall() throws Exception {
    Map<String, String> before = Dropin.listing(lib);
    site("hbase.bucketcache.composite.enabled", "true", "hbase.bucketcache.l1.size", "200",
      "hbase.bucketcache.l2.ioengine", "tape:/dev/st0", "hbase.bucketcache.l2.size", "1024",
      "hbase.wal.async.sync.interval.ms", "soon", "hbase.wal.async.max.syncs.in.flight", "few");
    assertEquals(dropin.output(), 1, run("install"));
    assertSays("bad   hbase.bucketcache.l2.ioengine is tape:/dev/st0; must be one of file:PATH");
    assertSays("bad   hbase.wal.async.sync.interval.ms is soon; must be an integer from 0");
    assertSays("bad   hbase.wal.async.max.syncs.in.flight is few; must be an integer of");
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testTiersAreHeldAgainstTheServersDirectMemory() throws Exception {
    site("hbase.bucketcache.composite.enabled", "true", "hbase.bucketcache.l1.size", "300",
      "hbase.bucketcache.l2.ioengine", "file:" + home.resolve("l2"), "hbase.bucketcache.l2.size",
      "1024");
    assertEquals(dropin.output(), 1, run("check"));
    assertSays("bad   hbase.bucketcache.l1.size is 300; must be within the 256 MB of direct");
    memory("-Xmx256m");
    Files.writeString(home.resolve("conf/hbase-env.sh"), "export HBASE_OFFHEAPSIZE=450\n",
      StandardOpenOption.APPEND);
    assertEquals(dropin.output(), 0, run("check"));
    assertSays("direct 450 MB (-XX:MaxDirectMemorySize=450m)");
  }

  @Test
  public void testMisspeltKeyIsNamedWithTheOneThatIsMeant() throws Exception {
    site("hbase.bucketcache.composite.promotoin", "none");
    String sentence = "hbase.bucketcache.composite.promotoin is none; no key has this name, so the "
      + "value is ignored. Did you mean hbase.bucketcache.composite.promotion?";
    assertEquals(dropin.output(), 1, run("check"));
    assertSays("bad   " + sentence);
    assertEquals(dropin.output(), 0, run("install"));
    assertSays("note  " + sentence);
  }

  /** Has what dropin asks a server with answer with the beans that match. */
  private void server(String beans) throws Exception {
    StringWriter json = new StringWriter();
    try (JSONBean.Writer writer = new JSONBean().open(new PrintWriter(json))) {
      writer.write(ManagementFactory.getPlatformMBeanServer(), new ObjectName(beans), null, false);
    }
    Path answer = folder.getRoot().toPath().resolve("answer");
    Files.writeString(answer, json.toString());
    Dropin.tool(tools, "curl", "echo \"$@\" >> \"" + tools + "/asked\"", "cat \"" + answer + "\"");
  }

  @Test
  public void testRunningServerIsHeldAgainstWhatLiesInLib() throws Exception {
    ServerInfo.register();
    server("Hadoop:service=HBase,name=Info");
    assertEquals(dropin.output(), 5, run("verify"));
    assertSays("runs " + VERSION + ", but " + lib + " has HBase " + BASE + "; restart the server");
    assertEquals(dropin.output(), 0, dropin.run("install", "--no-settings", home.toString()));
    assertEquals(dropin.output(), 0,
      dropin.run("verify", home.toString(), "https://rs1:16030/", "--negotiate", "-u", ":"));
    assertSays("https://rs1:16030/ runs " + VERSION);
    String asked = Files.readString(tools.resolve("asked"));
    assertTrue(asked, asked.contains("--negotiate -u : "
      + "https://rs1:16030/jmx?qry=Hadoop:service=HBase,name=Info"));
    // These classes come from the build, not from the folder, and verify says so.
    assertSays("note  hbase-server of https://rs1:16030/ comes from ");
  }

  /** Returns the first block of commands below a heading of a guide. */
  private static String commands(String guide, String heading) throws IOException {
    String text = Files.readString(kit.resolve(guide));
    int block = text.indexOf("\n```\n", text.indexOf("\n" + heading + "\n")) + 5;
    return text.substring(block, text.indexOf("\n```\n", block));
  }

  /** Follows the guide like a newcomer: runs its first block as it is, and then rolls back. */
  @Test
  public void testInstallGuideCanBeFollowedLiterally() throws Exception {
    ServerInfo.register();
    server("Hadoop:service=HBase,name=Info");
    Path bin = Files.createDirectory(home.resolve("bin"));
    Dropin.tool(bin, "hbase", "echo ${1##*.} $2 $3 $4 $5 >> \"" + tools + "/done\"",
      "[ $1 != shell ] || cat >> \"" + tools + "/done\"");
    Dropin.tool(bin, "hbase-daemon.sh", "echo $1 $2 >> \"" + tools + "/done\"");
    Path downloads = folder.newFolder("downloads").toPath();
    Path archive = Path.of(System.getProperty("stratum.archive"));
    Files.copy(archive, downloads.resolve(archive.getFileName()));
    // The commands of the guide lack the quotes that a home with a blank in its name needs.
    Path link = Files.createSymbolicLink(folder.getRoot().toPath().resolve("hbase"), home);
    String block = commands("docs/operations.md", "## Install");
    assertTrue(block, block.contains("./dropin install $HBASE_HOME"));
    String rollBack = "./dropin rollback $HBASE_HOME";
    assertTrue(Files.readString(kit.resolve("docs/operations.md")).contains("`" + rollBack + "`"));
    ProcessBuilder shell =
      new ProcessBuilder("sh", "-e", "-c", block + "\n" + rollBack).directory(downloads.toFile())
        .redirectErrorStream(true).redirectOutput(tools.resolve("output").toFile());
    shell.environment().put("HBASE_HOME", link.toString());
    shell.environment().put("JAVA_HOME", System.getProperty("java.home"));
    shell.environment().put("PATH", tools + ":" + System.getenv("PATH"));
    shell.environment().remove("HBASE_CONF_DIR");
    int code = shell.start().waitFor();
    String output = Files.readString(tools.resolve("output"));
    assertEquals(output, 0, code);
    assertTrue(output, output.contains(VERSION + " is installed in "));
    assertTrue(output, output.contains(" runs " + VERSION));
    assertEquals("shell -n\nbalance_switch false\nRegionMover -o unload -r HOSTNAME\n"
      + "stop regionserver\nstart regionserver\nRegionMover -o load -r HOSTNAME\n"
      + "shell -n\nbalance_switch true\n",
      Files.readString(tools.resolve("done")).replaceAll(" +\n", "\n"));
    for (String module : Dropin.MODULES) {
      assertEquals(Dropin.sha256(PUBLISHED.resolve(jar(module))),
        Dropin.sha256(lib.resolve(jar(module))));
    }
  }

  @Test
  public void testServerThatWasNotRestartedIsTold() throws Exception {
    server("Hadoop:service=HBase,name=NoSuchBean");
    assertEquals(dropin.output(), 0, run("verify"));
    assertSays("http://localhost:16030 runs no Stratum, as " + lib + " has none");
    assertEquals(dropin.output(), 0, dropin.run("install", "--no-settings", home.toString()));
    assertEquals(dropin.output(), 5, run("verify"));
    assertSays("runs without the hbase-server of Stratum; restart it");
  }

  @Test
  public void testServerThatDoesNotAnswerIsTold() throws Exception {
    Dropin.tool(tools, "curl", "echo 'curl: (7) Failed to connect' >&2; exit 7");
    assertEquals(dropin.output(), 4, run("verify"));
    assertSays("Failed to connect");
    assertSays("did not answer; name the server's info address");
    Dropin.tool(tools, "curl", "echo '<html>a proxy</html>'");
    assertEquals(dropin.output(), 4, run("verify"));
    assertSays("answered, but not as /jmx does");
  }
}
