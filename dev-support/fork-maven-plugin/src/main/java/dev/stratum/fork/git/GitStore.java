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
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.jgit.dircache.DirCache;
import org.eclipse.jgit.dircache.DirCacheBuilder;
import org.eclipse.jgit.dircache.DirCacheEntry;
import org.eclipse.jgit.internal.storage.dfs.DfsRepositoryDescription;
import org.eclipse.jgit.internal.storage.dfs.InMemoryRepository;
import org.eclipse.jgit.lib.AbbreviatedObjectId;
import org.eclipse.jgit.lib.AnyObjectId;
import org.eclipse.jgit.lib.CommitBuilder;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.FileMode;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.lib.ObjectReader;
import org.eclipse.jgit.lib.PersonIdent;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.treewalk.TreeWalk;

/**
 * Trees and commits in a git repository, with trees as content by path. Every commit made here has
 * the same author and time, so that the same content gives the same ids anywhere. Not thread-safe.
 */
public final class GitStore implements AutoCloseable {
  public static final String AUTHOR = "Stratum";
  public static final String MAIL = "stratum@localhost";

  private final Repository repository;
  private final Instant time;
  private final ObjectInserter inserter;
  private final ObjectReader reader;
  private final Map<byte[], ObjectId> written = new IdentityHashMap<>();
  private final Map<ObjectId, byte[]> read = new HashMap<>();

  /**
   * @param repository where to keep objects; not closed by this
   * @param time       the time of every commit made here
   */
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

  Repository repository() {
    return repository;
  }

  ObjectReader reader() {
    return reader;
  }

  /** Writes a tree of ordinary files and returns its id. */
  public ObjectId writeTree(SortedMap<String, byte[]> files) throws IOException {
    ObjectId tree = index(files).writeTree(inserter);
    inserter.flush();
    return tree;
  }

  /** Returns an index of these files, their content being written. */
  DirCache index(SortedMap<String, byte[]> files) throws IOException {
    DirCache index = DirCache.newInCore();
    DirCacheBuilder builder = index.builder();
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      builder.add(entry(file.getKey(), DirCacheEntry.STAGE_0, file.getValue()));
    }
    builder.finish();
    return index;
  }

  /** Returns an index entry, its content being written. */
  DirCacheEntry entry(String path, int stage, byte[] content) throws IOException {
    DirCacheEntry entry = new DirCacheEntry(path, stage);
    entry.setFileMode(FileMode.REGULAR_FILE);
    entry.setLength(content.length);
    entry.setObjectId(writeBlob(content));
    return entry;
  }

  private ObjectId writeBlob(byte[] content) throws IOException {
    ObjectId id = written.get(content);
    if (id == null) {
      id = inserter.insert(Constants.OBJ_BLOB, content);
      written.put(content, id);
      read.put(id, content);
    }
    return id;
  }

  /** Makes what was written visible to other readers of the repository. */
  void flush() throws IOException {
    inserter.flush();
  }

  /** Reads all files of a commit or tree. Files with the same content share their bytes. */
  SortedMap<String, byte[]> readTree(AnyObjectId treeish) throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    try (TreeWalk walk = new TreeWalk(reader)) {
      walk.setRecursive(true);
      walk.addTree(new RevWalk(reader).parseTree(treeish));
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
    ObjectId found = null;
    for (ObjectId id : reader.resolve(AbbreviatedObjectId.fromString(abbreviated))) {
      if (reader.open(id).getType() == Constants.OBJ_BLOB) {
        if (found != null) {
          return null;
        }
        found = id;
      }
    }
    return found == null ? null : reader.open(found, Constants.OBJ_BLOB).getBytes();
  }

  /** Writes a commit and returns its id. */
  ObjectId commit(AnyObjectId tree, List<ObjectId> parents, String message) throws IOException {
    return commit(tree, parents, message, new PersonIdent(AUTHOR, MAIL, time, ZoneOffset.UTC));
  }

  /** Writes a commit by {@code author} and returns its id. */
  ObjectId commit(AnyObjectId tree, List<ObjectId> parents, String message, PersonIdent author)
    throws IOException {
    CommitBuilder commit = new CommitBuilder();
    commit.setTreeId(tree);
    commit.setParentIds(parents);
    commit.setAuthor(author);
    commit.setCommitter(author);
    commit.setMessage(message);
    ObjectId id = inserter.insert(commit);
    inserter.flush();
    return id;
  }

  /** Writes the base and one commit for each step; returns their ids, the base's first. */
  public List<ObjectId> commitHistory(ForkHistory history, String baseName) throws IOException {
    List<ObjectId> ids = new ArrayList<>();
    ids.add(commit(writeTree(history.base()), List.of(), baseName + "\n"));
    for (ForkHistory.Step step : history.steps()) {
      ids.add(commit(writeTree(step.after()), List.of(ids.get(ids.size() - 1)),
        CommitMessage.format(step.patch())));
    }
    return ids;
  }

  @Override
  public void close() {
    reader.close();
    inserter.close();
  }
}
