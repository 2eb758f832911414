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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.BlockType.BlockCategory;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The files whose blocks are cached, by name and by number, and totals over all of them. Dropping a
 * file removes its name: none of its blocks is found from then on, and the entries left in the
 * index under its number are removed in the background. A number is reused only when no index entry
 * has it. Thread-safe; a lookup takes no lock.
 */
@InterfaceAudience.Private
public final class CachedFiles {
  /** Number of freed numbers that are reused before a newly freed one. */
  private static final int RESTING_IDS = 1024;

  private static final int FORMAT = 2;

  private final ConcurrentMap<String, CachedFile> live = new ConcurrentHashMap<>();
  /** Dropped files with entries left in the index, by name. The lists are immutable. */
  private final ConcurrentMap<String, List<CachedFile>> dropped = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Pair<String, Long>> fullyCached = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Long> regionBytes = new ConcurrentHashMap<>();

  /** Files by number; written with the monitor held. The array is replaced when it grows. */
  private volatile CachedFile[] byId = new CachedFile[64];
  private final Queue<Integer> freeIds = new ArrayDeque<>();
  private int nextId = 1;
  private final int maxId;

  private final LongAdder[] blocks = adders();
  private final LongAdder[] bytes = adders();
  private final LongAdder droppedBlocks = new LongAdder();
  private final LongAdder inMemoryBytes = new LongAdder();

  public CachedFiles() {
    this(SegmentIndex.MAX_FILE_ID);
  }

  /** Limits the numbers, for tests. */
  CachedFiles(int maxId) {
    this.maxId = maxId;
  }

  private static LongAdder[] adders() {
    LongAdder[] adders = new LongAdder[CachedFile.CATEGORIES];
    for (int i = 0; i < adders.length; i++) {
      adders[i] = new LongAdder();
    }
    return adders;
  }

  /** Returns the live file of this name, null if nothing of it is cached. */
  public CachedFile get(String name) {
    return live.get(name);
  }

  /**
   * Returns the live file of this name for a caller that is about to add blocks of it to the index
   * and releases the file afterwards.
   * @return null if no number is free
   */
  public CachedFile acquire(String name) {
    while (true) {
      CachedFile file = live.get(name);
      if (file == null) {
        file = live.computeIfAbsent(name, this::add);
        if (file == null) {
          return null;
        }
      }
      if (file.pin()) {
        return file;
      }
      // The file is being forgotten.
      live.remove(name, file);
    }
  }

  private synchronized CachedFile add(String name) {
    Integer id = null;
    if (freeIds.size() > RESTING_IDS || nextId > maxId) {
      id = freeIds.poll();
      if (id == null) {
        return null;
      }
    } else {
      id = nextId++;
    }
    CachedFile file = new CachedFile(this, name, id);
    put(file);
    return file;
  }

  private void put(CachedFile file) {
    CachedFile[] files = byId;
    if (file.id() >= files.length) {
      files = Arrays.copyOf(files, Math.max(file.id() + 1, 2 * files.length));
    }
    files[file.id()] = file;
    byId = files;
  }

  /** Returns the file with this number, including dropped files, or null if the number is free. */
  public CachedFile byId(int id) {
    CachedFile[] files = byId;
    return id > 0 && id < files.length ? files[id] : null;
  }

  /**
   * Drops the file of this name, so that none of its blocks is found any more. O(1).
   * @return the dropped file, null if no block of it was cached
   */
  public CachedFile drop(String name) {
    CachedFile file = live.get(name);
    if (file == null) {
      return null;
    }
    // Registered as dropped before it is dropped, for lookups of its remaining entries.
    dropped.compute(name, (n, others) -> {
      List<CachedFile> all = others == null ? new ArrayList<>(1) : new ArrayList<>(others);
      all.add(file);
      return all;
    });
    boolean byThisCall = file.drop();
    live.remove(name, file);
    if (!byThisCall || file.blockCount() == 0) {
      notDropped(file);
    }
    return byThisCall ? file : null;
  }

  private void notDropped(CachedFile file) {
    dropped.computeIfPresent(file.name(), (n, others) -> {
      List<CachedFile> rest = new ArrayList<>(others);
      rest.remove(file);
      return rest.isEmpty() ? null : rest;
    });
  }

  /** Returns the dropped files of this name that may have entries in the index. */
  List<CachedFile> dropped(String name) {
    return dropped.getOrDefault(name, Collections.emptyList());
  }

  /** Forgets a file. Called by a file without blocks that no thread has acquired. */
  void forget(CachedFile file) {
    live.remove(file.name(), file);
    notDropped(file);
    synchronized (this) {
      if (byId[file.id()] == file) {
        byId[file.id()] = null;
        freeIds.add(file.id());
      }
    }
  }

  void count(int category, long count, long size) {
    blocks[category].add(count);
    bytes[category].add(size);
  }

  void countInMemory(long size) {
    inMemoryBytes.add(size);
  }

  /** Returns the bytes taken by blocks of in-memory families of live files. */
  public long getInMemoryBytes() {
    return inMemoryBytes.sum();
  }

  void countDropped(long count) {
    droppedBlocks.add(count);
  }

  /** Returns all dropped files that may have entries in the index. */
  public List<CachedFile> dropped() {
    List<CachedFile> all = new ArrayList<>();
    dropped.values().forEach(all::addAll);
    return all;
  }

  /** Forgets all files. Only for an object that no other thread uses yet. */
  public synchronized void clear() {
    live.clear();
    dropped.clear();
    fullyCached.clear();
    regionBytes.clear();
    byId = new CachedFile[64];
    freeIds.clear();
    nextId = 1;
    droppedBlocks.reset();
    inMemoryBytes.reset();
    for (int category = 0; category < CachedFile.CATEGORIES; category++) {
      blocks[category].reset();
      bytes[category].reset();
    }
  }

  void countRegion(String region, long size) {
    if (region != null && size != 0) {
      regionBytes.merge(region, size, (a, b) -> a + b == 0 ? null : a + b);
    }
  }

  void addFullyCached(String name, String region, long size) {
    fullyCached.put(name, new Pair<>(region, size));
  }

  void removeFullyCached(String name) {
    fullyCached.remove(name);
  }

  /** Returns region and size of each fully cached file, as a live view. */
  public Map<String, Pair<String, Long>> getFullyCached() {
    return fullyCached;
  }

  /** Returns the cached bytes of each known region, as a live view. */
  public Map<String, Long> getRegionBytes() {
    return Collections.unmodifiableMap(regionBytes);
  }

  /** Returns the live files, as a live view. */
  public Collection<CachedFile> live() {
    return Collections.unmodifiableCollection(live.values());
  }

  /** Returns the number of live files. */
  public long getFileCount() {
    return live.size();
  }

  /** Returns the number of blocks of live files. */
  public long getBlockCount() {
    return sum(blocks);
  }

  /** Returns the number of blocks of live files in this category. */
  public long getBlockCount(BlockCategory category) {
    return blocks[numberOf(category)].sum();
  }

  /** Returns the bytes taken by the blocks of live files. */
  public long getByteCount() {
    return sum(bytes);
  }

  /** Returns the bytes taken by the blocks of live files in this category. */
  public long getByteCount(BlockCategory category) {
    return bytes[numberOf(category)].sum();
  }

  /** Returns the number of blocks of dropped files that are still in the index. */
  public long getDroppedBlockCount() {
    return droppedBlocks.sum();
  }

  private static int numberOf(BlockCategory category) {
    for (int i = 0; i < CachedFile.CATEGORIES; i++) {
      if (Location.categoryOf(i) == category) {
        return i;
      }
    }
    throw new IllegalArgumentException("No block is counted in category " + category);
  }

  private static long sum(LongAdder[] adders) {
    long sum = 0;
    for (LongAdder adder : adders) {
      sum += adder.sum();
    }
    return sum;
  }

  /**
   * Writes all files, including dropped ones. No other thread may change them meanwhile.
   * @throws IOException if writing fails
   */
  public void writeTo(DataOutput out) throws IOException {
    List<CachedFile> all = new ArrayList<>();
    for (CachedFile file : byId) {
      if (file != null) {
        all.add(file);
      }
    }
    out.writeInt(FORMAT);
    out.writeInt(all.size());
    for (CachedFile file : all) {
      out.writeUTF(file.name());
      out.writeInt(file.id());
      out.writeBoolean(file.isLive());
      String region = file.getRegion();
      out.writeUTF(region == null ? "" : region);
      out.writeLong(file.maxOffset());
      for (long count : file.counts()) {
        out.writeLong(count);
      }
      Pair<String, Long> full = file.isFullyCached() ? fullyCached.get(file.name()) : null;
      out.writeLong(full == null ? -1 : full.getSecond());
    }
  }

  /**
   * Reads the output of {@link #writeTo} into an object without files that no other thread uses.
   * @throws IOException if the input is invalid; the object must not be used then
   */
  public synchronized void readFrom(DataInput in) throws IOException {
    if (in.readInt() != FORMAT) {
      throw new IOException("The list of cached files has another format version");
    }
    Map<Integer, CachedFile> all = new HashMap<>();
    int highest = 0;
    for (int left = in.readInt(); left > 0; left--) {
      CachedFile file = readFile(in);
      highest = Math.max(highest, file.id());
      if (all.put(file.id(), file) != null) {
        throw new IOException("Two cached files have the number " + file.id());
      }
    }
    nextId = highest + 1;
    for (int id = 1; id < nextId; id++) {
      if (all.containsKey(id)) {
        put(all.get(id));
      } else {
        freeIds.add(id);
      }
    }
  }

  private CachedFile readFile(DataInput in) throws IOException {
    String name = in.readUTF();
    int id = in.readInt();
    boolean isLive = in.readBoolean();
    if (id < 1 || id > maxId) {
      throw new IOException("A cached file has the invalid number " + id);
    }
    CachedFile file = new CachedFile(this, name, id);
    if (isLive) {
      live.put(name, file);
    } else {
      file.drop();
      dropped.merge(name, Collections.singletonList(file), (a, b) -> {
        List<CachedFile> both = new ArrayList<>(a);
        both.addAll(b);
        return both;
      });
    }
    String region = in.readUTF();
    long maxOffset = in.readLong();
    long[] counts = new long[CachedFile.COUNTS];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = in.readLong();
    }
    file.restore(region.isEmpty() ? null : region, maxOffset, counts);
    if (!isLive) {
      countDropped(file.blockCount());
    }
    long fullSize = in.readLong();
    if (isLive && fullSize >= 0) {
      file.fullyCached(file.dataBlockCount(), file.getRegion(), fullSize);
    }
    return file;
  }
}
