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
package dev.stratum.fork.goal;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.pages.DependencyReport;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.Series;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.codec.digest.DigestUtils;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Lays out what is given to operators: the three jars, the patches as they are kept here and as
 * they would go to JIRA, guides, licence, the program that installs, and the checksums of it all.
 */
@Mojo(name = "kit", defaultPhase = LifecyclePhase.PREPARE_PACKAGE, threadSafe = true)
public final class KitMojo extends AbstractForkMojo {

  /** What the jars were built from, one line each; dropin compares a running server with it. */
  static final String BUILD = "BUILD";
  static final String SUMS = "SHA256SUMS";
  /** The bill of materials that the report of dependencies is made from, and stands for. */
  private static final String BILL = "bom.xml";

  /** The files of the kit that are in the root of the checkout. */
  private static final List<String> TOP = List.of("LICENSE", "NOTICE", "README.md",
    "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md");

  /** A link to a file; a heading of it may follow. */
  private static final Pattern LINK =
    Pattern.compile("\\[[^\\]]*\\]\\((?![a-z]+:)([^)#\\s]+)[^)\\s]*\\)");

  /** Where the kit is laid out. */
  @Parameter(defaultValue = "${project.build.directory}/kit", required = true)
  private File folder;

  /** The files that only the kit has, such as dropin. */
  @Parameter(defaultValue = "${project.basedir}/src/main/kit", required = true)
  private File programs;

  /** Generated files, and a bill of materials in XML for the report of dependencies, if any. */
  @Parameter(defaultValue = "${project.build.directory}/generated-kit")
  private File generated;

  @Override
  void run() throws IOException {
    Map<String, byte[]> kit = new TreeMap<>();
    StringBuilder build = new StringBuilder();
    build.append("base ").append(baseVersion()).append('\n');
    build.append("version ").append(forkVersion()).append('\n');
    for (String module : Modules.ALL) {
      String name = module + "-" + forkVersion() + ".jar";
      Path jar = root().resolve(module).resolve("target").resolve(name);
      if (!Files.isRegularFile(jar)) {
        throw new ForkException("%s is missing; run mvn install -DskipTests first.",
          root().relativize(jar));
      }
      kit.put("jars/" + name, Files.readAllBytes(jar));
      build.append(module).append(' ').append(identity(jar)).append('\n');
    }
    kit.put(BUILD, build.toString().getBytes(StandardCharsets.UTF_8));
    for (String name : TOP) {
      kit.put(name, Files.readAllBytes(root().resolve(name)));
    }
    add(kit, root().resolve("docs"), "docs/");
    add(kit, root().resolve("patches"), "patches/");
    add(kit, programs.toPath(), "");
    if (generated.isDirectory()) {
      add(kit, generated.toPath(), "");
    }
    byte[] bill = kit.remove(BILL);
    if (bill != null) {
      kit.put(DependencyReport.NAME, DependencyReport.of(bill).getBytes(StandardCharsets.UTF_8));
    }
    export(kit);
    kit.replaceAll(
      (name, content) -> name.endsWith(".md") ? relink(name, content, kit.keySet()) : content);
    StringBuilder sums = new StringBuilder();
    for (Map.Entry<String, byte[]> file : kit.entrySet()) {
      sums.append(DigestUtils.sha256Hex(file.getValue())).append("  ").append(file.getKey())
        .append('\n');
    }
    kit.put(SUMS, sums.toString().getBytes(StandardCharsets.UTF_8));
    new OutputTree(folder.toPath()).write(kit);
    getLog().info(kit.size() + " files in " + root().relativize(folder.toPath()));
  }

  /** Returns version and source checksum, in the words of ServerInfo. */
  private static String identity(Path jar) throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      Manifest manifest = file.getManifest();
      Attributes main = manifest == null ? new Attributes() : manifest.getMainAttributes();
      String version = main.getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      String checksum = main.getValue("Source-Checksum");
      if (version == null || checksum == null) {
        throw new ForkException("%s does not say what it was built from; run mvn clean install "
          + "-DskipTests.", jar.getFileName());
      }
      return version + " " + checksum;
    }
  }

  /**
   * Returns a page with its links to the files of {@link #programs} as the kit has them. A link to
   * a file that only the repository has is replaced by the path of that file there.
   */
  private byte[] relink(String name, byte[] page, Set<String> kit) {
    String folder = OutputTree.slashed(root().relativize(programs.toPath())) + "/";
    String text = new String(page, StandardCharsets.UTF_8).replace("](" + folder, "](")
      .replace("](../" + folder, "](../");
    return LINK.matcher(text).replaceAll(link -> {
      String path = OutputTree.slashed(Path.of(name).resolveSibling(link.group(1)).normalize());
      boolean inKit = kit.stream().anyMatch(file -> (file + "/").startsWith(path + "/"));
      return Matcher.quoteReplacement(
        inKit || !Files.exists(root().resolve(path)) ? link.group() : "`" + path + "`");
    }).getBytes(StandardCharsets.UTF_8);
  }

  private static void add(Map<String, byte[]> kit, Path from, String to) throws IOException {
    for (Path file : OutputTree.files(from)) {
      kit.put(to + OutputTree.slashed(from.relativize(file)), Files.readAllBytes(file));
    }
  }

  private void export(Map<String, byte[]> kit) throws IOException {
    try (GitStore store = GitStore.inMemory(time())) {
      for (Export.Exported one : export(store, history(Series.read(root()))).all()) {
        kit.put("patches/jira/" + one.fileName(), one.content());
      }
    }
  }
}
