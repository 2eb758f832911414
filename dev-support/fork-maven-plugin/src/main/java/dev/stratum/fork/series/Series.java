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
package dev.stratum.fork.series;

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The patches in the order of patches/series. Immutable. */
public record Series(List<PatchFile> patches) {

  /** The file that names the patches in order, one in a line; {@code #} begins a comment. */
  public static final String FILE = "series";
  /** Sources below this folder can belong to several patches. */
  private static final String TESTS = "/src/test/";

  /**
   * Reads and checks all patches. A repository without patches/series has an empty series.
   * @param root the repository's root
   */
  public static Series read(Path root) throws IOException {
    Path folder = root.resolve(PatchFile.FOLDER);
    List<String> names = names(folder.resolve(FILE));
    List<PatchFile> patches = new ArrayList<>();
    for (String name : names) {
      Path file = folder.resolve(name);
      if (!Files.isRegularFile(file)) {
        throw new ForkException("patches/series names %s, which is not in patches/; add the file "
          + "or remove the line.", name);
      }
      patches.add(PatchFile.read(file));
    }
    for (String name : patchFiles(folder)) {
      if (!names.contains(name)) {
        throw new ForkException("patches/%s is not in patches/series; add a line for it where it "
          + "belongs or delete the file.", name);
      }
    }
    Series series = new Series(List.copyOf(patches));
    series.check(root);
    return series;
  }

  private static List<String> names(Path file) throws IOException {
    Set<String> names = new LinkedHashSet<>();
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
        String name = line.replaceFirst("#.*", "").trim();
        if (!name.isEmpty() && !names.add(name)) {
          throw new ForkException("patches/series names %s twice; keep one line.", name);
        }
      }
    }
    return List.copyOf(names);
  }

  private static Set<String> patchFiles(Path folder) throws IOException {
    Set<String> names = new TreeSet<>();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        files.map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(PatchFile.SUFFIX)).forEach(names::add);
      }
    }
    return names;
  }

  private void check(Path root) {
    Map<String, String> owners = new HashMap<>();
    for (PatchFile patch : patches) {
      for (FileEdit edit : patch.edits()) {
        checkEdit(patch, edit);
      }
      for (String path : patch.header().adds()) {
        checkModule(patch, "'Adds:'", path);
        if (!Files.isRegularFile(root.resolve(path))) {
          throw new ForkException("%s has %s in 'Adds:', but there is no such file; create it or "
            + "remove it from the line.", patch.shown(), path);
        }
        String owner = owners.putIfAbsent(path, patch.shown());
        if (owner != null && !path.contains(TESTS)) {
          throw new ForkException("%s has %s in 'Adds:', and so has %s; only a test source can "
            + "belong to several patches.", patch.shown(), path, owner);
        }
      }
      needed(patch);
    }
  }

  private static void checkEdit(PatchFile patch, FileEdit edit) {
    String where = "line " + edit.line();
    checkModule(patch, where, edit.path());
    if (edit.kind() == FileEdit.Kind.RENAME) {
      checkModule(patch, where, edit.oldPath());
      if (!Modules.of(edit.oldPath()).equals(Modules.of(edit.newPath()))) {
        throw new ForkException("%s %s renames %s into another module; delete it there and add it "
          + "as a source file of %s.", patch.shown(), where, edit.oldPath(),
          Modules.of(edit.newPath()));
      }
    }
  }

  private static void checkModule(PatchFile patch, String where, String path) {
    if (!Modules.contain(path)) {
      throw new ForkException("%s %s names %s, which is in none of the modules %s; correct the "
        + "path.", patch.shown(), where, path, String.join(", ", Modules.ALL));
    }
    if (!path.startsWith(Modules.of(path) + "/src/") || path.contains("/../")) {
      throw new ForkException("%s %s names %s, which is not below %s/src/; correct the path.",
        patch.shown(), where, path, Modules.of(path));
    }
  }

  /**
   * Returns the patches that {@code patch} says it needs, in series order. A need is written as
   * the needed patch's file name, with or without {@code .patch}, or as its JIRA key.
   */
  public List<PatchFile> needed(PatchFile patch) {
    Set<PatchFile> found = new LinkedHashSet<>();
    int own = patches.indexOf(patch);
    for (String need : patch.header().needs()) {
      List<PatchFile> matches = patches.subList(0, own).stream()
        .filter(p -> need.equals(p.name()) || need.equals(p.stem())
          || need.equals(p.header().jira()))
        .toList();
      if (matches.isEmpty()) {
        throw new ForkException("%s needs %s, but no earlier patch of patches/series has that name "
          + "or JIRA; correct 'Needs:' or the order.", patch.shown(), need);
      }
      found.addAll(matches);
    }
    return patches.stream().filter(found::contains).toList();
  }

  /** Returns all that the patch needs, directly or not, in series order. */
  public Set<PatchFile> closure(PatchFile patch) {
    Set<PatchFile> all = new LinkedHashSet<>();
    collect(patch, all);
    return patches.stream().filter(all::contains)
      .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  private void collect(PatchFile patch, Set<PatchFile> all) {
    for (PatchFile need : needed(patch)) {
      if (all.add(need)) {
        collect(need, all);
      }
    }
  }

  /** Returns the patches of a JIRA key or a file name, with or without {@code .patch}. */
  public List<PatchFile> named(String name) {
    List<PatchFile> found = patches.stream()
      .filter(patch -> name.equals(patch.header().jira()) || name.equals(patch.stem())
        || name.equals(patch.name()))
      .toList();
    if (found.isEmpty()) {
      throw new ForkException("fork.jira is '%s', which is the JIRA key or file name of no patch "
        + "of patches/series; correct it, or leave it out to take all.", name);
    }
    return found;
  }

  /** Returns the repository paths that the patches add, in series order. */
  public List<String> adds() {
    return patches.stream().flatMap(patch -> patch.header().adds().stream()).distinct().toList();
  }
}
