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
import dev.stratum.fork.OutputTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The variants of patches for one version of HBase. {@code patches/lines/VERSION/NAME.patch}
 * replaces the edits of {@code patches/NAME.patch} there; the files in the patch's {@code Adds:}
 * are added as always. A variant is made against the published files of its version, independently
 * of the preceding patches. One whose edits are next to those of another variant is made against
 * the files with that one, and names it above its first edit: {@code After: NAME.patch}. One with
 * {@code Replaces: files} there replaces the patch's edits of the files that it edits and no
 * others. A variant without edits says that the version does not need the patch, as
 * {@code Upstream: in VERSION} in the patch's header does.
 * <p>
 * Instances are immutable.
 */
public final class LineVariants {
  /** The folder with a folder of variants for each version, with a slash at the end. */
  public static final String FOLDER = PatchFile.FOLDER + "lines/";

  /** The edits of a patch that a version gets. */
  public enum Source {
    /** Those of the patch itself. */
    PATCH,
    /** Those of the variant for the version. */
    VARIANT,
    /** None: the patch's header or an empty variant says that the version does not need them. */
    UPSTREAM
  }

  private static final Pattern AFTER = Pattern.compile("(?m)^After: (\\S+)$");
  private static final Pattern FILES_ONLY = Pattern.compile("(?m)^Replaces: files$");

  private final String version;
  private final Map<String, byte[]> variants;
  private final Map<String, List<FileChange>> changes = new HashMap<>();

  /**
   * @param variants  the content of each variant by the file name of the patch that it replaces
   * @throws ForkException if a variant is not made against {@code published}, or after a variant
   *                       that is not there or is made after it
   */
  public LineVariants(String version, SortedMap<String, byte[]> published,
    Map<String, byte[]> variants) {
    this.version = version;
    this.variants = Map.copyOf(variants);
    for (String name : variants.keySet()) {
      SortedMap<String, byte[]> before = before(name, published, Set.of(name));
      changes.put(name, FileChange.between(before, apply(name, before)));
    }
  }

  /**
   * Reads the variants for a version, none if the repository has none for it.
   * @throws ForkException if a variant is not made against {@code published}, or is the variant of
   *                       no patch of the series
   */
  public static LineVariants read(Path root, Series series, String version,
    SortedMap<String, byte[]> published) throws IOException {
    checkNames(root, series);
    Map<String, byte[]> variants = new HashMap<>();
    for (Path file : OutputTree.files(root.resolve(FOLDER).resolve(version))) {
      variants.put(file.getFileName().toString(), Files.readAllBytes(file));
    }
    return new LineVariants(version, published, variants);
  }

  /**
   * Checks that each variant of each version has the name of a patch.
   * @throws ForkException if one has not
   */
  public static void checkNames(Path root, Series series) throws IOException {
    List<String> names = series.patches().stream().map(PatchFile::name).toList();
    for (Path file : OutputTree.files(root.resolve(FOLDER))) {
      Path path = root.resolve(FOLDER).relativize(file);
      if (path.getNameCount() != 2 || !names.contains(path.getFileName().toString())) {
        throw new ForkException("%s%s is the variant of no patch of patches/series; give it the "
          + "name of the patch that has its edits, as %sVERSION/NAME.patch, or delete it.", FOLDER,
          OutputTree.slashed(path), FOLDER);
      }
    }
  }

  /**
   * Returns the files that a variant is made against.
   * @param made the variant, and those made after it that led here
   */
  private SortedMap<String, byte[]> before(String name, SortedMap<String, byte[]> published,
    Set<String> made) {
    String earlier = after(name);
    if (earlier == null) {
      return published;
    }
    if (!variants.containsKey(earlier) || made.contains(earlier)) {
      throw new ForkException("%s has After: %s, which %s; name a variant of the same folder that "
        + "is made without this one.", path(name), earlier,
        made.contains(earlier) ? "is made after it" : "is not there");
    }
    Set<String> all = new HashSet<>(made);
    all.add(earlier);
    return apply(earlier, before(earlier, published, all));
  }

  /** Returns the variant that precedes another one, {@code null} if that one names none. */
  private String after(String name) {
    Matcher matcher = AFTER.matcher(PatchFile.head(variants.get(name)));
    return matcher.find() ? matcher.group(1) : null;
  }

  /** Returns the files with the edits of a variant, whose line numbers are those of before. */
  private SortedMap<String, byte[]> apply(String name, SortedMap<String, byte[]> before) {
    SortedMap<String, byte[]> after = new TreeMap<>(before);
    try {
      FileEdit.parse(path(name), variants.get(name)).forEach(edit -> edit.apply(after));
    } catch (ForkException e) {
      throw new ForkException("%s is not made against what is published of %s%s (%s); make it with "
        + "git diff -U0 against those files.", path(name), version,
        after(name) == null ? "" : " with " + path(after(name)), e.getMessage());
    }
    return after;
  }

  private String path(String name) {
    return FOLDER + version + '/' + name;
  }

  /** Returns which edits of {@code patch} the version gets. */
  public Source source(PatchFile patch) {
    List<FileChange> variant = changes.get(patch.name());
    if (patch.header().isIn(version) || variant != null && variant.isEmpty()) {
      return Source.UPSTREAM;
    }
    return variant == null ? Source.PATCH : Source.VARIANT;
  }

  /** Returns the path, to show in messages, of the file with the edits of {@code patch}. */
  public String shown(PatchFile patch) {
    return changes.containsKey(patch.name()) ? path(patch.name()) : patch.shown();
  }

  /**
   * Returns the changes that the version gets for a patch: those of the patch on the base; or those
   * of the variant on the published files, the files that the patch adds, and its edits of the
   * modules, or files, that the variant does not replace; or none.
   */
  public List<FileChange> changes(ForkHistory.Step step) {
    Source source = source(step.patch());
    if (source != Source.VARIANT) {
      return source == Source.PATCH ? step.changes() : List.of();
    }
    String name = step.patch().name();
    List<FileChange> all = new ArrayList<>(changes.get(name));
    boolean filesOnly = FILES_ONLY.matcher(PatchFile.head(variants.get(name))).find();
    List<String> own = all.stream().map(FileChange::path).toList();
    List<String> modules = own.stream().map(Modules::of).toList();
    step.changes().stream()
      .filter(change -> change.before() == null || filesOnly
        ? !own.contains(change.path())
        : !modules.contains(Modules.of(change.path())))
      .forEach(all::add);
    return all;
  }
}
