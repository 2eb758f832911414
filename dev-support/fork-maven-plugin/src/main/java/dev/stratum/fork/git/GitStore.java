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

import dev.stratum.fork.series.CommitMessage;
import dev.stratum.fork.series.ForkHistory;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.jgit.diff.DiffAlgorithm;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.diff.DiffFormatter;
import org.eclipse.jgit.dircache.DirCache;
import org.eclipse.jgit.dircache.DirCacheBuilder;
import org.eclipse.jgit.dircache.DirCacheEntry;
import org.eclipse.jgit.internal.storage.dfs.DfsRepositoryDescription;
import org.eclipse.jgit.internal.storage.dfs.InMemoryRepository;
import org.eclipse.jgit.lib.AbbreviatedObjectId;
import org.eclipse.jgit.lib.AnyObjectId;
import org.eclipse.jgit.lib.CommitBuilder;
import org.eclipse.jgit.lib.Config;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.patch.FileHeader;
import org.eclipse.jgit.patch.Patch;
import org.eclipse.jgit.patch.PatchApplier;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.treewalk.TreeWalk;

/**
 * Trees and commits in a git repository, with trees as content by path. Commits have a given time,
 * so that the same content gives the same ids anywhere. Not thread-safe.
 */
public final class GitStore implements AutoCloseable {
  /** The author of commits that stay here. */
  public static final PersonIdent STRATUM = new PersonIdent("Stratum", "stratum@localhost");

  private static final int ID_LENGTH = 10;

  private final Repository repository;
  private final Instant time;
  private final ObjectInserter inserter;
  private final ObjectReader reader;
  private final Map<byte[], ObjectId> written = new IdentityHashMap<>();
  private final Map<ObjectId, byte[]> read = new HashMap<>();

  GitStore(Repository repository, Instant time) {
    this.repository = repository;
    this.time = time;
    inserter = repository.newObjectInserter();
    reader = inserter.newReader();
  }

  /** Returns a store in memory. */
  public static GitStore inMemory(Instant time) {
    return new GitStore(new InMemoryRepository(new DfsRepositoryDescription("fork")), time);
  }

  ObjectReader reader() {
    return reader;
  }

  /** Writes a tree of ordinary files and returns its id. */
  public ObjectId writeTree(SortedMap<String, byte[]> files) throws IOException {
    DirCache index = DirCache.newInCore();
    DirCacheBuilder builder = index.builder();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      builder.add(entry(file.getKey(), DirCacheEntry.STAGE_0, file.getValue()));
    }
    builder.finish();
    return index.writeTree(inserter);
  }

  /** Returns an index entry, its content being written. */
  DirCacheEntry entry(String path, int stage, byte[] content) throws IOException {
    ObjectId id = written.get(content);
    if (id == null) {
      id = inserter.insert(Constants.OBJ_BLOB, content);
      written.put(content, id);
      read.put(id, content);
    }
    DirCacheEntry entry = new DirCacheEntry(path, stage);
    entry.setFileMode(FileMode.REGULAR_FILE);
    entry.setLength(content.length);
    entry.setObjectId(id);
    return entry;
  }

  /** Makes what was written visible to other readers of the repository. */
  void flush() throws IOException {
    inserter.flush();
  }

  /** Reads all files of a commit or tree. Files with the same content share their bytes. */
  SortedMap<String, byte[]> readTree(AnyObjectId treeish) throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    try (TreeWalk walk = new TreeWalk(reader); RevWalk commits = new RevWalk(reader)) {
      walk.setRecursive(true);
      walk.addTree(commits.parseTree(treeish));
      while (walk.next()) {
        ObjectId id = walk.getObjectId(0);
        byte[] content = read.get(id);
        if (content == null) {
          content = reader.open(id, Constants.OBJ_BLOB).getBytes();
          read.put(id, content);
          written.put(content, id);
        }
        files.put(walk.getPathString(), content);
      }
    }
    return files;
  }

  /** Returns the content of an abbreviated blob id, or {@code null} if there is none or several. */
  public byte[] find(String abbreviated) throws IOException {
    List<byte[]> found = new ArrayList<>();
    for (ObjectId id : reader.resolve(AbbreviatedObjectId.fromString(abbreviated))) {
      if (reader.open(id).getType() == Constants.OBJ_BLOB) {
        found.add(reader.open(id).getBytes());
      }
    }
    return found.size() == 1 ? found.get(0) : null;
  }

  /** Writes a commit at this store's time and returns its id. */
  ObjectId commit(AnyObjectId tree, List<ObjectId> parents, String message, PersonIdent author)
    throws IOException {
    CommitBuilder commit = new CommitBuilder();
    commit.setTreeId(tree);
    commit.setParentIds(parents);
    commit.setAuthor(
      new PersonIdent(author.getName(), author.getEmailAddress(), time, ZoneOffset.UTC));
    commit.setCommitter(commit.getAuthor());
    commit.setMessage(message);
    ObjectId id = inserter.insert(commit);
    inserter.flush();
    return id;
  }

  /** Writes the base and one commit for each step; returns their ids, the base's first. */
  public List<ObjectId> commitHistory(ForkHistory history, String baseName) throws IOException {
    List<ObjectId> ids = new ArrayList<>();
    ids.add(commit(writeTree(history.base()), List.of(), baseName + "\n", STRATUM));
    for (ForkHistory.Step step : history.steps()) {
      ids.add(commit(writeTree(step.after()), List.of(ids.get(ids.size() - 1)),
        CommitMessage.format(step.patch()), STRATUM));
    }
    return ids;
  }

  /**
   * Returns what writes differences as git does. The user's own git settings have no say, so that
   * the same trees give the same bytes anywhere.
   */
  DiffFormatter formatter(OutputStream out, int context) {
    DiffFormatter formatter = new DiffFormatter(out);
    formatter.setReader(reader, new Config());
    formatter.setDiffAlgorithm(
      DiffAlgorithm.getAlgorithm(DiffAlgorithm.SupportedAlgorithm.HISTOGRAM));
    formatter.setContext(context);
    formatter.setAbbreviationLength(ID_LENGTH);
    return formatter;
  }

  /**
   * Applies a diff as {@code git apply} does: the lines of context must match, but may stand some
   * lines away from where the diff says. A new file that is there already with the same content
   * stays, as with {@code git am -3}: patches may share a test source. JGit drops carriage returns
   * before newlines; no source of HBase has any.
   * @param diff with or without an e-mail's head
   * @param tree content by path; changed in place
   * @return the path of the first file that the diff does not fit, {@code null} if it applied
   */
  public String apply(byte[] diff, SortedMap<String, byte[]> tree) throws IOException {
    Patch patch = new Patch();
    patch.parse(diff, 0, diff.length);
    for (FileHeader file : patch.getFiles()) {
      boolean adds = file.getChangeType() == ChangeType.ADD;
      String path = adds ? file.getNewPath() : file.getOldPath();
      SortedMap<String, byte[]> there = new TreeMap<>();
      if (!adds && tree.containsKey(path)) {
        there.put(path, tree.get(path));
      }
      Patch one = new Patch();
      one.addFile(file);
      ObjectId before = writeTree(there);
      flush();
      try (RevWalk walk = new RevWalk(reader)) {
        PatchApplier.Result result =
          new PatchApplier(repository, walk.parseTree(before), inserter).applyPatch(one);
        if (!result.getErrors().isEmpty() || !adds && there.isEmpty()) {
          return path;
        }
        if (!adds) {
          tree.remove(path);
        }
        for (Map.Entry<String, byte[]> left : readTree(result.getTreeId()).entrySet()) {
          byte[] known = tree.putIfAbsent(left.getKey(), left.getValue());
          if (known != null && !Arrays.equals(known, left.getValue())) {
            return left.getKey();
          }
        }
      }
    }
    return null;
  }

  @Override
  public void close() {
    reader.close();
    inserter.close();
  }
}
