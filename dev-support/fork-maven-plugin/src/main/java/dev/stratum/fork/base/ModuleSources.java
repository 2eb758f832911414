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
package dev.stratum.fork.base;

import dev.stratum.fork.Digests;
import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The sources that one module is compiled from: the base's, with the series' edits, below
 * {@code target/fork}. A fingerprint of everything they are made from is kept beside them, so that
 * a build without changes neither unpacks nor patches, and a build with a change rewrites only the
 * files whose content it changes.
 */
public final class ModuleSources {
  private static final String FINGERPRINT = "fingerprint";
  private static final String WEBAPPS = "hbase-webapps/";
  private static final String PACKAGE = "/package-info.java";

  private final BaseModule base;
  private final Path moduleFolder;
  private final OutputTree java;
  private final OutputTree resources;
  private final OutputTree webapps;
  private final Path forkFolder;

  /**
   * @param base         the published module
   * @param moduleFolder the module's folder in this repository
   * @param forkFolder   where to generate, such as {@code target/fork}
   */
  public ModuleSources(BaseModule base, Path moduleFolder, Path forkFolder) {
    this.base = base;
    this.moduleFolder = moduleFolder;
    this.forkFolder = forkFolder;
    java = new OutputTree(javaFolder());
    resources = new OutputTree(resourcesFolder());
    webapps = new OutputTree(webappsFolder());
  }

  /** Returns the folder of the patched Java sources. */
  public Path javaFolder() {
    return forkFolder.resolve("java");
  }

  /** Returns the folder of the resources that go into the jar. */
  public Path resourcesFolder() {
    return forkFolder.resolve("resources");
  }

  /** Returns the folder that holds {@code hbase-webapps}, which a distribution keeps beside lib. */
  Path webappsFolder() {
    return forkFolder.resolve("webapps");
  }

  /**
   * Brings the folders up to date.
   * @param series   the patches
   * @param pinned   the checksums that the base's files must have
   * @param identity how the fork names itself
   * @param plugin   what identifies this plugin's own code
   * @return what was done
   */
  public Result prepare(Series series, PinnedChecksums pinned, ForkIdentity identity, String plugin)
    throws IOException {
    String jarSum = pinned.verify(base.jar());
    String sourcesSum = pinned.verify(base.sources());
    String checksum = sourceChecksum(series, List.of(jarSum, sourcesSum), identity);
    String inputs = Digests.sha256().add("checksum", checksum).add("plugin", plugin)
      .add("identity", identity.toString()).hex();
    Path fingerprint = forkFolder.resolve(FINGERPRINT);
    if (Files.exists(fingerprint)
      && Files.readString(fingerprint).equals(fingerprint(inputs))) {
      checkShadowing();
      return new Result(checksum, false, List.of(), List.of());
    }
    SortedMap<String, byte[]> tree = base.readTree();
    Set<String> pristine = Set.copyOf(tree.keySet());
    for (PatchFile patch : series.patches()) {
      patch.apply(base.name(), tree);
    }
    Files.deleteIfExists(fingerprint);
    Layout layout = new Layout(tree, pristine, identity, checksum);
    OutputTree.Changes sources = java.write(layout.java);
    OutputTree.Changes packaged = resources.write(layout.resources);
    OutputTree.Changes pages = webapps.write(layout.webapps);
    checkShadowing();
    Files.writeString(fingerprint, fingerprint(inputs));
    return new Result(checksum, true, concat(sources.written(), packaged.written(),
      pages.written()), packaged.deleted());
  }

  @SafeVarargs
  private static List<String> concat(List<String>... lists) {
    return Stream.of(lists).flatMap(List::stream).toList();
  }

  private String fingerprint(String inputs) throws IOException {
    return inputs + "\n" + java.listing() + "\n" + resources.listing() + "\n" + webapps.listing()
      + "\n";
  }

  /**
   * Returns a SHA-512 over all that the module is built from: the base's files, the edits of this
   * module in series order, the module's own sources, and the entries of hbase-default.xml.
   */
  private String sourceChecksum(Series series, List<String> baseSums, ForkIdentity identity)
    throws IOException {
    Digests digests = Digests.sha512().add("settings", identity.settings());
    baseSums.forEach(sum -> digests.add("base", sum));
    for (PatchFile patch : series.patches()) {
      for (FileEdit edit : patch.edits()) {
        if (Modules.of(edit.path()).equals(base.name())) {
          digests.add(patch.name(), edit.section());
        }
      }
    }
    Path main = moduleFolder.resolve("src/main");
    for (Path file : OutputTree.files(main)) {
      digests.add(OutputTree.slashed(main.relativize(file)), Files.readAllBytes(file));
    }
    return digests.hex();
  }

  /** A class of ours must not silently replace upstream's. */
  private void checkShadowing() throws IOException {
    checkShadowing(Modules.JAVA, java);
    checkShadowing(Modules.RESOURCES, resources);
    checkShadowing(Modules.RESOURCES, webapps);
  }

  private void checkShadowing(String folder, OutputTree upstream) throws IOException {
    Path own = moduleFolder.resolve(folder);
    for (Path file : OutputTree.files(own)) {
      String path = OutputTree.slashed(own.relativize(file));
      if (upstream.has(path)) {
        throw new ForkException("%s/%s%s has the path of a file of the base and would hide it; "
          + "give it another name, or edit the base's file with a patch.", base.name(), folder,
          path);
      }
    }
  }

  private static String classOf(String source) {
    return source.substring(0, source.length() - ".java".length()) + ".class";
  }

  /** The patched tree, sorted by the place of each file. */
  private final class Layout {
    final Map<String, byte[]> java = new TreeMap<>();
    final Map<String, byte[]> resources = new TreeMap<>();
    final Map<String, byte[]> webapps = new TreeMap<>();

    Layout(SortedMap<String, byte[]> tree, Set<String> pristine, ForkIdentity identity,
      String checksum) throws IOException {
      Set<String> published = base.published();
      for (Map.Entry<String, byte[]> file : tree.entrySet()) {
        String path = file.getKey().substring(base.name().length() + 1);
        byte[] content = file.getValue();
        if (path.startsWith(Modules.JAVA)) {
          String name = path.substring(Modules.JAVA.length());
          if (name.equals(ForkIdentity.VERSION_CLASS)) {
            java.put(name, identity.versionClass(content, checksum));
          } else if (!name.endsWith(PACKAGE) || published.contains(classOf(name))) {
            // A package-info.java that gives no class would look changed to the compiler plugin
            // in every build, or be given a class that the published jar does not have.
            java.put(name, content);
          }
        } else if (path.startsWith(Modules.RESOURCES)) {
          String name = path.substring(Modules.RESOURCES.length());
          if (name.equals(ForkIdentity.NOTICE)) {
            resources.put(name, identity.notice(content));
          } else if (name.equals(ForkIdentity.DEFAULTS)) {
            resources.put(name, identity.defaults(content));
          } else if (name.startsWith(WEBAPPS)) {
            webapps.put(name, content);
            if (published.contains(name)) {
              // Some bases, 2.6.1 is one, have the pages in the jar too.
              resources.put(name, content);
            }
          } else if (published.contains(name) || !pristine.contains(file.getKey())) {
            // What only the sources artifact has, such as a package.html, stays out of the jar.
            resources.put(name, content);
          }
        }
      }
    }
  }

  /**
   * What {@link #prepare} did.
   * @param sourceChecksum   SHA-512 over what the module is built from
   * @param changed          whether anything had to be unpacked
   * @param written          the files written, relative to their folder
   * @param deletedResources the resources deleted, relative to their folder
   */
  public record Result(String sourceChecksum, boolean changed, List<String> written,
    List<String> deletedResources) {
  }
}
