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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The patches in the order of patches/series. Immutable. */
public record Series(List<PatchFile> patches) {

  /** The file that names the patches in order, one in a line; {@code #} begins a comment. */
  public static final String FILE = PatchFile.FOLDER + "series";
  /** Sources below this folder can belong to several patches. */
  private static final String TESTS = "/src/test/";

  /** Reads and checks all patches. A repository without patches/series has an empty series. */
  public static Series read(Path root) throws IOException {
    Path folder = root.resolve(PatchFile.FOLDER);
    List<String> names = names(root, FILE);
    List<PatchFile> patches = new ArrayList<>();
    for (String name : names) {
      if (!Files.isRegularFile(folder.resolve(name))) {
        throw new ForkException("patches/series names %s, which is not in patches/; add the file "
          + "or remove the line.", name);
      }
      patches.add(PatchFile.parse(name, Files.readAllBytes(folder.resolve(name))));
    }
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        files.map(file -> file.getFileName().toString()).sorted()
          .filter(name -> name.endsWith(PatchFile.SUFFIX) && !names.contains(name)).findFirst()
          .ifPresent(name -> {
            throw new ForkException("patches/%s is not in patches/series; add a line for it where "
              + "it belongs or delete the file.", name);
          });
      }
    }
    Series series = new Series(List.copyOf(patches));
    series.check(root);
    return series;
  }

  /** Returns the names in a file that has one in a line; none if there is no such file. */
  public static List<String> names(Path root, String path) throws IOException {
    Set<String> names = new LinkedHashSet<>();
    Path file = root.resolve(path);
    for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
      String name = line.replaceFirst("#.*", "").trim();
      if (!name.isEmpty() && !names.add(name)) {
        throw new ForkException("%s names %s twice; keep one line.", path, name);
      }
    }
    return List.copyOf(names);
  }

  private void check(Path root) {
    Map<String, String> owners = new HashMap<>();
    for (PatchFile patch : patches) {
      for (FileEdit edit : patch.edits()) {
        String why = problem(edit.path());
        if (why != null) {
          throw edit.problem("names %s, which %s; correct the path", edit.path(), why);
        }
      }
      for (String path : patch.header().adds()) {
        String why = problem(path);
        if (why != null) {
          throw new ForkException("%s 'Adds:' names %s, which %s; correct the path.",
            patch.shown(), path, why);
        }
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

  /** Returns what is wrong with the path of a file of a patch, {@code null} if nothing is. */
  public static String problem(String path) {
    String module = Modules.of(path);
    if (!Modules.ALL.contains(module)) {
      return "is in none of the modules " + String.join(", ", Modules.ALL);
    }
    return path.startsWith(module + "/src/") && !path.contains("/../")
      ? null
      : "is not below " + module + "/src/";
  }

  /**
   * Returns the patches that {@code patch} says it needs, in series order. A need is written as
   * the needed patch's file name, with or without {@code .patch}, or as its JIRA key.
   */
  public List<PatchFile> needed(PatchFile patch) {
    Set<PatchFile> found = new LinkedHashSet<>();
    List<PatchFile> earlier = patches.subList(0, patches.indexOf(patch));
    for (String need : patch.header().needs()) {
      List<PatchFile> matches = named(need, earlier);
      if (matches.isEmpty()) {
        throw new ForkException("%s needs %s, but no earlier patch of patches/series has that name "
          + "or JIRA; correct 'Needs:' or the order.", patch.shown(), need);
      }
      found.addAll(matches);
    }
    return earlier.stream().filter(found::contains).toList();
  }

  private static List<PatchFile> named(String name, List<PatchFile> among) {
    return among.stream().filter(patch -> name.equals(patch.name()) || name.equals(patch.stem())
      || name.equals(patch.header().jira())).toList();
  }

  /** Returns the patches of a JIRA key or a file name, with or without {@code .patch}. */
  public List<PatchFile> named(String name) {
    List<PatchFile> found = named(name, patches);
    if (found.isEmpty()) {
      throw new ForkException("fork.jira is '%s', which is the JIRA key or file name of no patch "
        + "of patches/series; correct it, or leave it out to take all.", name);
    }
    return found;
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

  /** Returns the repository paths that the patches add, in series order. */
  public List<String> adds() {
    return patches.stream().flatMap(patch -> patch.header().adds().stream()).distinct().toList();
  }

  /**
   * Returns the content of patches/series with these names in this order, each comment with the
   * line below it; the same bytes if it has them already.
   * @param old   the file as it is, {@code null} if there is none
   */
  public static byte[] rewrite(byte[] old, List<String> names) {
    List<String> head = new ArrayList<>();
    List<String> pending = new ArrayList<>();
    Map<String, List<String>> blocks = new LinkedHashMap<>();
    boolean inHead = true;
    for (String line : old == null ? List.<String>of()
      : new String(old, StandardCharsets.UTF_8).lines().toList()) {
      String name = line.replaceFirst("#.*", "").trim();
      if (!name.isEmpty()) {
        inHead = false;
        pending.add(line);
        blocks.put(name, pending);
        pending = new ArrayList<>();
      } else if (inHead) {
        head.add(line);
        inHead = !line.isBlank();
      } else {
        pending.add(line);
      }
    }
    if (List.copyOf(blocks.keySet()).equals(names)) {
      return old == null ? new byte[0] : old;
    }
    names.forEach(name -> head.addAll(blocks.getOrDefault(name, List.of(name))));
    head.addAll(pending);
    return (String.join("\n", head) + "\n").getBytes(StandardCharsets.UTF_8);
  }
}
