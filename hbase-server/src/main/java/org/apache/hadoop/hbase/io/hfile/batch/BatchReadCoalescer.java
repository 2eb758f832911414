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
package org.apache.hadoop.hbase.io.hfile.batch;

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
 * What the gets of a batch read from a block cache's file: the first one that comes to a block
 * reads it, the others wait for that and take the same block. Each of them counts as a look-up that
 * hit; only the read, its buffer and the check of its checksum are spared.
 * <p>
 * A block stays until the batch is over. That is no more than its gets hold without this, where
 * each has a copy of its own until the response is made.
 * <p>
 * A get that comes to the block behind one that the batch has read is in rows side by side, as the
 * gets to come are likely to be: if the cache can, it reads the next blocks with it
 * ({@link NeighbourReader}).
 * <p>
 * It is counted how many reads have waited for a device. A read from the page cache is so short
 * that a thread which has to share its processor is seldom off it just then, so that this tells a
 * device from processors that are busy.
 * <p>
 * A thread takes part from {@link #enter} to {@link #leave}. Thread-safe, but for {@link #release}.
 */
@InterfaceAudience.Private
public final class BatchReadCoalescer {

  /**
   * Reads a block from its place.
   * @param <P> what says where a block is
   */
  public interface BlockReader<P> {
    Cacheable read(P place) throws IOException;
  }

  /**
   * Reads blocks that lie one behind the other at once.
   * @param <P> as for {@link BlockReader}
   */
  public interface NeighbourReader<P> extends BlockReader<P> {
    /** Returns the place of the block that comes behind this one in its file, if there is one. */
    P next(P place, Cacheable block);

    /**
     * Reads a block, and what of those behind it can be had with it.
     * @param others gets these, each with one reference
     */
    Cacheable readWithNext(P place, BiConsumer<P, Cacheable> others) throws IOException;
  }

  private static final ThreadLocal<BatchReadCoalescer> CURRENT = new ThreadLocal<>();

  /** More than a read of a block from the page cache takes, and less than one from a device. */
  public static final long WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
  /** One wait may be that of a thread that had no processor, or for a collection. */
  private static final int MIN_WAITS = 2;
  /** A batch waits for a device if at least one in so many of its gets does. */
  private static final int GETS_PER_WAIT = 4;

  private final LongAdder spared;
  private final LongSupplier clock;
  private final AtomicInteger waits = new AtomicInteger();
  /** Each completed with null if the read has failed. */
  private final ConcurrentMap<Object, CompletableFuture<Cacheable>> blocks =
    new ConcurrentHashMap<>();
  /** The places behind blocks that were read. */
  private final Set<Object> next = ConcurrentHashMap.newKeySet();

  /** @param spared counts the reads that were not necessary */
  public BatchReadCoalescer(LongAdder spared) {
    this(spared, System::nanoTime);
  }

  /** @param clock in nanoseconds */
  public BatchReadCoalescer(LongAdder spared, LongSupplier clock) {
    this.spared = spared;
    this.clock = clock;
  }

  /** Has what the calling thread reads shared, until it leaves. */
  public void enter() {
    CURRENT.set(this);
  }

  public static void leave() {
    CURRENT.set(null);
  }

  /**
   * Reads a block, unless another get of the same batch has read it or is about to.
   * @param place  that stands for the same bytes as long as it is reachable, and is equal to itself
   *               only
   * @param reader that returns a block with one reference, for the caller
   * @return a block with one reference, for the caller
   */
  public static <P> Cacheable read(P place, BlockReader<P> reader) throws IOException {
    BatchReadCoalescer current = CURRENT.get();
    return current == null ? reader.read(place) : current.get(place, reader);
  }

  private <P> Cacheable get(P place, BlockReader<P> reader) throws IOException {
    CompletableFuture<Cacheable> own = new CompletableFuture<>();
    CompletableFuture<Cacheable> others;
    try {
      others = blocks.putIfAbsent(place, own);
    } catch (Throwable e) {
      // It may be there all the same, if there was no memory to count it.
      own.complete(null);
      throw e;
    }
    if (others == null) {
      return lead(place, own, reader);
    }
    // An interruption is put off until the block is there: the read may be another thread's.
    // Waits without a limit: lead completes it whatever is thrown, and where its read hangs this
    // one would too.
    Cacheable block = others.join();
    if (block == null) {
      return reader.read(place);
    }
    spared.increment();
    return block.retain();
  }

  private <P> Cacheable lead(P place, CompletableFuture<Cacheable> own, BlockReader<P> reader)
    throws IOException {
    Cacheable block = null;
    try {
      long start = clock.getAsLong();
      block = reader instanceof NeighbourReader
        ? readInOrder(place, (NeighbourReader<P>) reader)
        : reader.read(place);
      if (clock.getAsLong() - start >= WAIT_NANOS) {
        waited();
      }
      // The reference of the batch, before anybody else can have the block.
      block.retain();
      return block;
    } finally {
      own.complete(block);
    }
  }

  private <P> Cacheable readInOrder(P place, NeighbourReader<P> reader) throws IOException {
    Cacheable block = next.remove(place)
      ? reader.readWithNext(place, (other, behind) -> take(other, behind, reader))
      : reader.read(place);
    try {
      next.add(reader.next(place, block));
      return block;
    } catch (Throwable e) {
      block.release();
      throw e;
    }
  }

  /** Takes a block that nobody has asked for yet, or leaves it to whoever reads it just now. */
  private <P> void take(P place, Cacheable block, NeighbourReader<P> reader) {
    CompletableFuture<Cacheable> own = null;
    try {
      next.add(reader.next(place, block));
      own = CompletableFuture.completedFuture(block);
      blocks.putIfAbsent(place, own);
    } finally {
      // Not by what was returned: nothing may be, and it be there all the same.
      if (own == null || blocks.get(place) != own) {
        block.release();
      }
    }
  }

  /** To be told of a read that has waited for a device, and was not made here. */
  public void waited() {
    waits.incrementAndGet();
  }

  /**
   * Whether the batch waits for a device.
   * @param gets how many of its gets were begun so far
   */
  public boolean haveWaited(int gets) {
    int count = waits.get();
    return count >= MIN_WAITS && count * GETS_PER_WAIT >= gets;
  }

  /** Gives the blocks up. To be called when no thread takes part any more. */
  public void release() {
    for (CompletableFuture<Cacheable> each : blocks.values()) {
      // Waits without a limit: no read is under way any more, so that each is complete.
      Cacheable block = each.join();
      if (block != null) {
        block.release();
      }
    }
    blocks.clear();
  }
}
