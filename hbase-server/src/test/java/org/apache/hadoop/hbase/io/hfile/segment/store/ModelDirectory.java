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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;

/** The plainest directory there can be: a map from what a block is to where it is. */
final class ModelDirectory implements SegmentDirectory {

  /** A block's identity. */
  static final class Key {
    final String file;
    final long offset;

    Key(String file, long offset) {
      this.file = file;
      this.offset = offset;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).file.equals(file)
        && ((Key) other).offset == offset;
    }

    @Override
    public int hashCode() {
      return 31 * file.hashCode() + Long.hashCode(offset);
    }

    @Override
    public String toString() {
      return file + "@" + offset;
    }
  }

  private final Map<Key, Long> locations = new HashMap<>();
  private SegmentStore store;
  private volatile Runnable beforeForgetting = () -> {
  };

  synchronized void attach(SegmentStore to) {
    store = to;
  }

  /** Returns {@link Location#ABSENT} if there is none. */
  synchronized long get(String file, long offset) {
    return locations.getOrDefault(new Key(file, offset), Location.ABSENT);
  }

  synchronized Map<Key, Long> all() {
    return new HashMap<>(locations);
  }

  synchronized void forEach(BiConsumer<Key, Long> visitor) {
    locations.forEach(visitor);
  }

  synchronized void setAccesses(String file, long offset, int accesses) {
    locations.computeIfPresent(new Key(file, offset),
      (key, location) -> Location.withAccess(location, accesses));
  }

  /** Evicts a block. */
  synchronized void remove(String file, long offset) {
    Long location = locations.remove(new Key(file, offset));
    if (location != null) {
      store.freed(location);
    }
  }

  synchronized long bytes() {
    return locations.values().stream().mapToLong(Location::length).sum();
  }

  @Override
  public synchronized boolean stored(CachedFile file, long blockOffset, long location) {
    Long former = locations.put(new Key(file.name(), blockOffset), location);
    if (former != null) {
      store.freed(former);
    }
    return true;
  }

  @Override
  public synchronized boolean recovered(String fileName, long blockOffset, long location) {
    return locations.putIfAbsent(new Key(fileName, blockOffset), location) == null;
  }

  private boolean failsRegionOf;

  synchronized void failRegionOf(boolean fail) {
    failsRegionOf = fail;
  }

  /** What a former process knew of files. */
  final Map<String, String> regions = new HashMap<>();
  final Map<String, CompleteFile> complete = new HashMap<>();

  @Override
  public synchronized String regionOf(String fileName) {
    if (failsRegionOf) {
      throw new IllegalStateException("As was requested");
    }
    return regions.get(fileName);
  }

  @Override
  public synchronized void regionRecovered(String fileName, String region) {
    regions.put(fileName, region);
  }

  @Override
  public synchronized void completeRecovered(CompleteFile file) {
    complete.put(file.name(), file);
  }

  @Override
  public synchronized boolean isComplete(String fileName) {
    return complete.containsKey(fileName);
  }

  private boolean isAt(Key key, long location) {
    Long actual = locations.get(key);
    return actual != null && Location.isSame(actual, location);
  }

  @Override
  public synchronized int accesses(String fileName, long blockOffset, long location) {
    Key key = new Key(fileName, blockOffset);
    return isAt(key, location) ? Location.access(locations.get(key)) : NOT_HERE;
  }

  @Override
  public synchronized boolean moved(String fileName, long blockOffset, long from, long to) {
    Key key = new Key(fileName, blockOffset);
    return isAt(key, from) && locations.put(key, to) != null;
  }

  @Override
  public synchronized int removed(String fileName, long blockOffset, long location) {
    Key key = new Key(fileName, blockOffset);
    return isAt(key, location) ? Location.access(locations.remove(key)) : NOT_HERE;
  }

  @Override
  public boolean isFreeingOrphans() {
    return false;
  }

  @Override
  public synchronized long inMemoryBytes() {
    return locations.values().stream().filter(Location::isInMemory).mapToLong(Location::length)
      .sum();
  }

  /** Sets what is done before segments are forgotten. */
  void beforeForgetting(Runnable task) {
    beforeForgetting = task;
  }

  @Override
  public void forgetSegments(int first, int end) {
    beforeForgetting.run();
    forget(first, end);
  }

  private synchronized void forget(int first, int end) {
    locations.values().removeIf(
      location -> Location.segment(location) >= first && Location.segment(location) < end);
  }
}
