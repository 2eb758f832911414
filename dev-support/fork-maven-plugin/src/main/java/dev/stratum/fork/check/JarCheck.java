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
package dev.stratum.fork.check;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.base.BaseModule;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipFile;

/**
 * Compares a built jar with the published one: every entry of the published jar must be there, but
 * for anonymous classes of files that a patch touches; the only classes beside them are compiled
 * from this repository's own files or from files that a patch touches, and a class whose source no
 * patch touches has the same declaration and members. With an empty series and no files of ours the
 * two jars therefore have the same classes.
 */
public final class JarCheck {
  private static final String CLASS = ".class";
  /** A class without a name, which no other source can refer to. */
  private static final Pattern ANONYMOUS = Pattern.compile("\\$\\d+(\\$|\\.class$)");
  private static final int SHOWN = 5;

  private final BaseModule base;
  private final Series series;

  public JarCheck(BaseModule base, Series series) {
    this.base = base;
    this.series = series;
  }

  /**
   * Checks a jar.
   * @return how many classes were compared member by member
   * @throws ForkException if the jar lacks something or differs where it must not
   */
  public int check(Path jar) throws IOException {
    Set<String> published = base.published();
    Set<String> built = BaseModule.entries(jar);
    Set<String> gone = goneByPatch();
    Set<String> missing = new TreeSet<>(published);
    missing.removeAll(built);
    missing.removeIf(entry -> gone.contains(topLevel(entry)));
    Set<String> touched = touched();
    missing.removeIf(entry -> ANONYMOUS.matcher(entry).find()
      && touched.contains(topLevel(entry) + ".java"));
    if (!missing.isEmpty()) {
      throw new ForkException("%s lacks %d entries of the published %s: %s; run mvn clean, and see "
        + "whether a patch removes them.", jar.getFileName(), missing.size(),
        base.jar().getFileName(), shown(missing));
    }
    return compare(jar, built, published, touched);
  }

  private int compare(Path jar, Set<String> built, Set<String> published, Set<String> touched)
    throws IOException {
    Set<String> upstream = base.readTree().keySet().stream()
      .filter(path -> path.startsWith(base.name() + "/" + Modules.JAVA))
      .map(path -> path.substring(base.name().length() + 1 + Modules.JAVA.length()))
      .filter(path -> !touched.contains(path)).collect(Collectors.toSet());
    Set<String> different = new TreeSet<>();
    int compared = 0;
    try (ZipFile oldJar = new ZipFile(base.jar().toFile());
      ZipFile newJar = new ZipFile(jar.toFile())) {
      for (String entry : built) {
        if (!entry.endsWith(CLASS)) {
          continue;
        }
        ClassSignature after = ClassSignature.of(bytes(newJar, entry));
        if (upstream.contains(after.source())) {
          compared++;
          if (!published.contains(entry)
            || !ClassSignature.of(bytes(oldJar, entry)).lines().equals(after.lines())) {
            different.add(entry);
          }
        }
      }
    }
    if (!different.isEmpty()) {
      throw new ForkException("%s has %d classes that differ from the published %s although no "
        + "patch touches their source: %s; run mvn clean, and check the compiler's settings.",
        jar.getFileName(), different.size(), base.jar().getFileName(), shown(different));
    }
    return compared;
  }

  /** Returns the Java files, relative to their source folder, that a patch edits. */
  private Set<String> touched() {
    Set<String> paths = new HashSet<>();
    String folder = base.name() + "/" + Modules.JAVA;
    for (PatchFile patch : series.patches()) {
      for (FileEdit edit : patch.edits()) {
        for (String path : new String[] { edit.oldPath(), edit.newPath() }) {
          if (path != null && path.startsWith(folder)) {
            paths.add(path.substring(folder.length()));
          }
        }
      }
    }
    return paths;
  }

  /** Returns what a patch deletes or renames: entries of the jar without their suffix. */
  private Set<String> goneByPatch() {
    Set<String> gone = new HashSet<>();
    for (PatchFile patch : series.patches()) {
      for (FileEdit edit : patch.edits()) {
        if (edit.oldPath() != null && !edit.oldPath().equals(edit.newPath())) {
          gone.add(edit.oldPath().replaceFirst("^[^/]*/src/main/(java|resources)/", "")
            .replaceFirst("\\.java$", ""));
        }
      }
    }
    return gone;
  }

  private static String topLevel(String entry) {
    if (!entry.endsWith(CLASS)) {
      return entry;
    }
    String name = entry.substring(0, entry.length() - CLASS.length());
    int dollar = name.indexOf('$');
    return dollar < 0 ? name : name.substring(0, dollar);
  }

  private static byte[] bytes(ZipFile zip, String entry) throws IOException {
    try (InputStream in = zip.getInputStream(zip.getEntry(entry))) {
      return in.readAllBytes();
    }
  }

  private static String shown(Set<String> names) {
    String first = names.stream().limit(SHOWN).collect(Collectors.joining(", "));
    return names.size() > SHOWN ? first + ", ..." : first;
  }
}
