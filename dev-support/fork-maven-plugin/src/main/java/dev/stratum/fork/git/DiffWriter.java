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
package dev.stratum.fork.git;

import dev.stratum.fork.series.Modules;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.eclipse.jgit.diff.DiffAlgorithm;
import org.eclipse.jgit.diff.DiffConfig;
import org.eclipse.jgit.diff.DiffEntry;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.diff.DiffFormatter;
import org.eclipse.jgit.diff.RenameDetector;
import org.eclipse.jgit.lib.AnyObjectId;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.revwalk.RevWalk;

/**
 * Writes the difference of two trees as git does. The user's own git settings have no say, so that
 * the same trees give the same bytes anywhere.
 */
public final class DiffWriter {
  /** The lines of context of an ordinary patch. */
  public static final int CONTEXT = 3;

  private static final int ID_LENGTH = 10;

  private final GitStore store;
  private final int context;

  /**
   * @param store   what has the trees
   * @param context how many lines of context
   */
  public DiffWriter(GitStore store, int context) {
    this.store = store;
    this.context = context;
  }

  /**
   * Returns what differs, in the order of the paths, with renames found within a module. A file
   * that left one module for another is one deleted and one added, and so is a rename that
   * {@code renames} does not accept.
   */
  public List<DiffEntry> entries(AnyObjectId oldTreeish, AnyObjectId newTreeish,
    Predicate<DiffEntry> renames) throws IOException {
    RenameDetector detector =
      new RenameDetector(store.reader(), new Config().get(DiffConfig.KEY));
    // The detector changes the entries that it is given, so it gets its own.
    detector.addAll(scan(oldTreeish, newTreeish));
    Map<String, DiffEntry> byNewPath = new HashMap<>();
    Map<String, DiffEntry> byOldPath = new HashMap<>();
    for (DiffEntry entry : detector.compute()) {
      if (entry.getChangeType() == ChangeType.RENAME
        && Modules.of(entry.getOldPath()).equals(Modules.of(entry.getNewPath()))
        && renames.test(entry)) {
        byNewPath.put(entry.getNewPath(), entry);
        byOldPath.put(entry.getOldPath(), entry);
      }
    }
    List<DiffEntry> entries = new ArrayList<>();
    for (DiffEntry entry : scan(oldTreeish, newTreeish)) {
      if (entry.getChangeType() == ChangeType.ADD && byNewPath.containsKey(entry.getNewPath())) {
        entries.add(byNewPath.get(entry.getNewPath()));
      } else if (entry.getChangeType() != ChangeType.DELETE
        || !byOldPath.containsKey(entry.getOldPath())) {
        entries.add(entry);
      }
    }
    return entries;
  }

  private List<DiffEntry> scan(AnyObjectId oldTreeish, AnyObjectId newTreeish)
    throws IOException {
    try (DiffFormatter formatter = formatter(new ByteArrayOutputStream());
      RevWalk walk = new RevWalk(store.reader())) {
      return formatter.scan(walk.parseTree(oldTreeish), walk.parseTree(newTreeish));
    }
  }

  /** Returns the section of one file. */
  public byte[] section(DiffEntry entry) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DiffFormatter formatter = formatter(out)) {
      formatter.format(entry);
    }
    return out.toByteArray();
  }

  /** Returns a section that deletes a file without repeating its content. */
  byte[] shortDeletion(DiffEntry entry) throws IOException {
    String whole = new String(section(entry), StandardCharsets.UTF_8);
    int content = whole.indexOf("\n--- ");
    return (content < 0 ? whole : whole.substring(0, content + 1))
      .getBytes(StandardCharsets.UTF_8);
  }

  private DiffFormatter formatter(ByteArrayOutputStream out) {
    DiffFormatter formatter = new DiffFormatter(out);
    formatter.setReader(store.reader(), new Config());
    formatter.setDiffAlgorithm(
      DiffAlgorithm.getAlgorithm(DiffAlgorithm.SupportedAlgorithm.HISTOGRAM));
    formatter.setContext(context);
    formatter.setAbbreviationLength(ID_LENGTH);
    return formatter;
  }
}
