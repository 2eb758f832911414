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
package org.apache.hadoop.hbase.io.hfile.load;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Coalesces the reads of a batch of gets from a block cache's file: the first get that needs a
 * block reads it, the others wait for that read and share the block. Each of them counts as a cache
 * hit; only the read, its buffer and the verification of its checksum are saved.
 * <p>
 * A block is retained until the end of the batch. The memory is no more than without coalescing,
 * where each get holds its own copy until the response is built.
 * <p>
 * If a get needs the block that follows one the batch has read, the gets are on adjacent rows, and
 * later gets of the batch probably are, too: if the cache supports it, the next blocks are read
 * together with it ({@link NeighbourReader}).
 * <p>
 * Reads that have waited for a device are counted. A read from the page cache is so short that a
 * thread is rarely preempted during it, so this count distinguishes a slow device from busy
 * processors.
 * <p>
 * A thread participates from {@link #enter} to {@link #leave}. Thread-safe, except for
 * {@link #release}.
 */
@InterfaceAudience.Private
public final class BatchReadCoalescer {

  /**
   * Reads a block at a position.
   * @param <P> the type of positions
   */
  public interface BlockReader<P> {
    Cacheable read(P position) throws IOException;
  }

  /**
   * Reads adjacent blocks at once.
   * @param <P> the type of positions
   */
  public interface NeighbourReader<P> extends BlockReader<P> {
    /** Returns the position of the block that follows this one in its file, if there is one. */
    P next(P position, Cacheable block);

    /**
     * Reads a block, and as many of the following blocks as can be read with it.
     * @param others receives these, each with one reference
     */
    Cacheable readWithNext(P position, BiConsumer<P, Cacheable> others) throws IOException;
  }

  private static final ThreadLocal<BatchReadCoalescer> CURRENT = new ThreadLocal<>();

  /** Longer than a read of a block from the page cache, and shorter than one from a device. */
  public static final long WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  /** A single wait may be due to preemption or a garbage collection. */
  private static final int MIN_WAITS = 2;
  /** A batch is device-bound if at least one in this many of its gets waits. */
  private static final int GETS_PER_WAIT = 4;

  private final LongAdder spared;
  private final LongSupplier clock;
  private final AtomicInteger waits = new AtomicInteger();
  /** The reads, each completed with null if it has failed. */
  private final ConcurrentMap<Object, CompletableFuture<Cacheable>> blocks =
    new ConcurrentHashMap<>();
  /** The positions following blocks that were read. */
  private final Set<Object> next = ConcurrentHashMap.newKeySet();

  /** @param spared counts the saved reads */
  public BatchReadCoalescer(LongAdder spared) {
    this(spared, System::nanoTime);
  }

  /** @param clock in nanoseconds */
  public BatchReadCoalescer(LongAdder spared, LongSupplier clock) {
    this.spared = spared;
    this.clock = clock;
  }

  /** Coalesces the reads of the calling thread until {@link #leave}. */
  public void enter() {
    CURRENT.set(this);
  }

  public static void leave() {
    CURRENT.set(null);
  }

  /**
   * Reads a block, unless another get of the same batch has read it or is reading it.
   * @param position stands for the same bytes while it is reachable, and is equal only to itself
   * @param reader   returns a block with one reference, for the caller
   * @return a block with one reference, for the caller
   */
  public static <P> Cacheable read(P position, BlockReader<P> reader) throws IOException {
    BatchReadCoalescer current = CURRENT.get();
    return current == null ? reader.read(position) : current.get(position, reader);
  }

  private <P> Cacheable get(P position, BlockReader<P> reader) throws IOException {
    CompletableFuture<Cacheable> own = new CompletableFuture<>();
    CompletableFuture<Cacheable> others;
    try {
      others = blocks.putIfAbsent(position, own);
    } catch (Throwable e) {
      // It may have been inserted nevertheless, if there was no memory to count it.
      own.complete(null);
      throw e;
    }
    if (others == null) {
      return lead(position, own, reader);
    }
    // An interrupt is deferred until the block is read: the read may be another thread's. Waits
    // without a limit: lead completes it whatever is thrown, and where its read hangs this one
    // would too.
    Cacheable block = others.join();
    if (block == null) {
      return reader.read(position);
    }
    spared.increment();
    return block.retain();
  }

  private <P> Cacheable lead(P position, CompletableFuture<Cacheable> own, BlockReader<P> reader)
    throws IOException {
    Cacheable block = null;
    try {
      long start = clock.getAsLong();
      block = reader instanceof NeighbourReader
        ? readInOrder(position, (NeighbourReader<P>) reader)
        : reader.read(position);
      if (clock.getAsLong() - start >= WAIT_NANOS) {
        waited();
      }
      // The batch takes its reference before another thread can get the block.
      block.retain();
      return block;
    } finally {
      own.complete(block);
    }
  }

  private <P> Cacheable readInOrder(P position, NeighbourReader<P> reader) throws IOException {
    Cacheable block = next.remove(position)
      ? reader.readWithNext(position, (other, behind) -> take(other, behind, reader))
      : reader.read(position);
    try {
      next.add(reader.next(position, block));
      return block;
    } catch (Throwable e) {
      block.release();
      throw e;
    }
  }

  /** Stores a block that no get has needed yet, or releases it if another get is reading it. */
  private <P> void take(P position, Cacheable block, NeighbourReader<P> reader) {
    CompletableFuture<Cacheable> own = null;
    try {
      next.add(reader.next(position, block));
      own = CompletableFuture.completedFuture(block);
      blocks.putIfAbsent(position, own);
    } finally {
      // Checks the map, not the result of putIfAbsent, which may throw after the insertion.
      if (own == null || blocks.get(position) != own) {
        block.release();
      }
    }
  }

  /** Records a read that has waited for a device and was not made by this class. */
  public void waited() {
    waits.incrementAndGet();
  }

  /**
   * Returns whether the batch is device-bound.
   * @param gets the number of its gets that were started so far
   */
  public boolean haveWaited(int gets) {
    int count = waits.get();
    return count >= MIN_WAITS && count * GETS_PER_WAIT >= gets;
  }

  /** Releases the blocks. Must be called when no thread participates any more. */
  public void release() {
    for (CompletableFuture<Cacheable> each : blocks.values()) {
      // Waits without a limit: no read is in progress any more, so that each is complete.
      Cacheable block = each.join();
      if (block != null) {
        block.release();
      }
    }
    blocks.clear();
  }
}
