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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * The sources that one module is compiled from: the base's, with the series' edits, below
 * {@code target/fork}. A fingerprint of everything they are made from is kept beside them, so that
 * a build without changes neither unpacks nor patches, and a build with a change rewrites only the
 * files whose content it changes.
 */
public final class ModuleSources {
  /** The folder of the patched Java sources. */
  public static final String JAVA = "java";
  /** The folder of the resources that go into the jar. */
  public static final String RESOURCES = "resources";
  /** The folder of {@code hbase-webapps}, which a distribution keeps beside lib. */
  private static final String WEBAPPS = "webapps";

  private final BaseModule base;
  private final Path moduleFolder;
  private final Path forkFolder;
  private final Map<String, OutputTree> outputs = new TreeMap<>();

  public ModuleSources(BaseModule base, Path moduleFolder, Path forkFolder) {
    this.base = base;
    this.moduleFolder = moduleFolder;
    this.forkFolder = forkFolder;
    for (String folder : List.of(JAVA, RESOURCES, WEBAPPS)) {
      outputs.put(folder, new OutputTree(forkFolder.resolve(folder)));
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

  /**
   * Brings the folders up to date.
   * @param plugin   what identifies this plugin's own code
   */
  public Result prepare(Series series, Path root, ForkIdentity identity, String plugin)
    throws IOException {
    String checksum = sourceChecksum(series, base.verify(root), identity);
    String inputs = DigestUtils.sha256Hex(checksum + '\n' + plugin + '\n' + identity);
    Path fingerprint = forkFolder.resolve("fingerprint");
    if (Files.exists(fingerprint)
      && Files.readString(fingerprint).equals(fingerprint(inputs))) {
      checkShadowing();
      return new Result(checksum, false, List.of(), List.of());
    }
    SortedMap<String, byte[]> tree = base.readTree();
    Set<String> pristine = Set.copyOf(tree.keySet());
    series.patches().forEach(patch -> patch.apply(base.name(), tree));
    Files.deleteIfExists(fingerprint);
    Map<String, Map<String, byte[]>> layout = layout(tree, pristine, identity, checksum);
    List<String> written = new ArrayList<>();
    List<String> deleted = new ArrayList<>();
    for (Map.Entry<String, OutputTree> output : outputs.entrySet()) {
      OutputTree.Changes changes = output.getValue().write(layout.get(output.getKey()));
      written.addAll(changes.written());
      if (output.getKey().equals(RESOURCES)) {
        deleted.addAll(changes.deleted());
      }
    }
    checkShadowing();
    Files.writeString(fingerprint, fingerprint(inputs));
    return new Result(checksum, true, written, deleted);
  }

  private String fingerprint(String inputs) throws IOException {
    StringBuilder all = new StringBuilder(inputs).append('\n');
    for (OutputTree output : outputs.values()) {
      all.append(output.listing()).append('\n');
    }
    return all.toString();
  }

  /**
   * Returns a SHA-512 over all that the module is built from: the base's files, the edits of this
   * module in series order, the module's own sources, and the entries of hbase-default.xml.
   */
  private String sourceChecksum(Series series, List<String> baseSums, ForkIdentity identity)
    throws IOException {
    StringBuilder all = new StringBuilder(DigestUtils.sha256Hex(identity.settings()));
    baseSums.forEach(sum -> all.append('\n').append(sum));
    for (PatchFile patch : series.patches()) {
      for (FileEdit edit : patch.edits()) {
        if (Modules.of(edit.path()).equals(base.name())) {
          all.append('\n').append(patch.name()).append(' ')
            .append(DigestUtils.sha256Hex(edit.section()));
        }
      }
    }
    Path main = moduleFolder.resolve("src/main");
    for (Path file : OutputTree.files(main)) {
      all.append('\n').append(OutputTree.slashed(main.relativize(file))).append(' ')
        .append(DigestUtils.sha256Hex(Files.readAllBytes(file)));
    }
    return DigestUtils.sha512Hex(all.toString());
  }

  /** A class of ours must not silently replace upstream's. */
  private void checkShadowing() throws IOException {
    for (Map.Entry<String, OutputTree> output : outputs.entrySet()) {
      String folder = output.getKey().equals(JAVA) ? Modules.JAVA : Modules.RESOURCES;
      Path own = moduleFolder.resolve(folder);
      for (Path file : OutputTree.files(own)) {
        String path = OutputTree.slashed(own.relativize(file));
        if (output.getValue().has(path)) {
          throw new ForkException("%s/%s%s has the path of a file of the base and would hide it; "
            + "give it another name, or edit the base's file with a patch.", base.name(), folder,
            path);
        }
      }
    }
  }

  /** Returns the patched tree, sorted by the place of each file. */
  private Map<String, Map<String, byte[]>> layout(SortedMap<String, byte[]> tree,
    Set<String> pristine, ForkIdentity identity, String checksum) throws IOException {
    Map<String, Map<String, byte[]>> layout = new TreeMap<>();
    outputs.keySet().forEach(folder -> layout.put(folder, new TreeMap<>()));
    Set<String> published = base.published();
    for (Map.Entry<String, byte[]> file : tree.entrySet()) {
      String path = file.getKey().substring(base.name().length() + 1);
      byte[] content = file.getValue();
      if (path.startsWith(Modules.JAVA)) {
        String name = path.substring(Modules.JAVA.length());
        if (name.equals(ForkIdentity.VERSION_CLASS)) {
          layout.get(JAVA).put(name, identity.versionClass(content, checksum));
        } else if (!name.endsWith("/package-info.java")
          || published.contains(name.replaceFirst("java$", "class"))) {
          // A package-info.java that gives no class would look changed to the compiler plugin
          // in every build, or be given a class that the published jar does not have.
          layout.get(JAVA).put(name, content);
        }
      } else if (path.startsWith(Modules.RESOURCES)) {
        String name = path.substring(Modules.RESOURCES.length());
        boolean page = name.startsWith("hbase-webapps/");
        if (page) {
          layout.get(WEBAPPS).put(name, content);
        }
        // Some bases, 2.6.1 is one, have the pages in the jar too. What only the sources artifact
        // has, such as a package.html, stays out of the jar.
        if (published.contains(name) || !page && !pristine.contains(file.getKey())
          || name.equals(ForkIdentity.DEFAULTS)) {
          layout.get(RESOURCES).put(name, identity.resource(name, content));
        }
      }
    }
    return layout;
  }
}
