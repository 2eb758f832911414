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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Probes the device of a tier while it is bypassed or disabled, in a thread that runs for as long.
 * The device is used again after a successful probe. If the outage has lasted too long, all blocks
 * on it are evicted, and the engine is opened anew, empty, before the next probe.
 * <p>
 * A probe writes a block of random bytes to space from the allocator, syncs the device, and reads
 * the block back. It is written and read like every block, so it fails where they would fail; but
 * it may be read from the page cache.
 * <p>
 * The tier's own allocator, map and counters live on through an outage. What was on the device is
 * evicted entry by entry, each under the lock that its readers hold, so that when this is done no
 * read from the old engine is in flight. Readers of memory that is mapped may still hold blocks
 * there; the engine is not opened anew before they have released the last of them, since a mapping
 * puts the parts of a file in any order, and a new one would let others write where they read.
 */
@InterfaceAudience.Private
final class DeviceProber {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceProber.class);

  private static final BlockCacheKey KEY = new BlockCacheKey("device-probe", 0);
  private static final int PROBE_BYTES = 16 * 1024;
  private static final long STOP_WAIT_MS = 5000;

  private final BucketCache cache;
  private final CacheDevice device;
  private final DeviceHealth health;
  private final long retryMs;
  private final IntSupplier writing;
  private final Runnable countFailure;
  private final BucketSizes bucketSizes;
  private final List<String> stores;

  private volatile boolean stopped;
  private Thread thread;
  /** Why the last probe failed; only the thread uses it. */
  private Throwable failure;

  /**
   * @param tier         with an open engine
   * @param retryMs      how long to wait between two probes of a disabled device, in milliseconds;
   *                     0 to leave it disabled for good
   * @param writing      supplies the number of writer threads that may be writing
   * @param countFailure is run for each probe that fails
   */
  <T extends BucketCache & CacheDevice> DeviceProber(T tier, DeviceHealth health, long retryMs,
    IntSupplier writing, Runnable countFailure) {
    this.cache = tier;
    this.device = tier;
    this.health = health;
    this.retryMs = retryMs;
    this.writing = writing;
    this.countFailure = countFailure;
    this.bucketSizes = new BucketSizes(tier.getAllocator());
    this.stores = stores(tier.ioEngine);
  }

  /**
   * Starts the probes of a device that has just been bypassed.
   * @param cause the failure that made it so
   */
  synchronized void start(Throwable cause) {
    if (stopped) {
      return;
    }
    failure = cause;
    thread = new Thread(this::run, device.getName() + "-DeviceProber");
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the probes for good. Waits a little for one that is in flight, and no longer. */
  void stop() {
    Thread watching;
    synchronized (this) {
      stopped = true;
      watching = thread;
    }
    if (watching != null) {
      watching.interrupt();
      try {
        watching.join(STOP_WAIT_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private void run() {
    try {
      while (!stopped) {
        TimeUnit.MILLISECONDS.sleep(health.nextPauseMs());
        if (health.disableIfNotTolerated()) {
          disabled();
          return;
        }
        if (!stopped && works()) {
          health.works();
          LOG.info("{} tier is used again, a probe of {} succeeded", device.getName(),
            cache.getIoEngine());
          return;
        }
        health.probeFailed();
      }
    } catch (InterruptedException e) {
      // The tier shuts down.
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.error("{} tier is left out from now on: its device cannot be tried", device.getName(), e);
    }
  }

  private void disabled() throws InterruptedException {
    LOG.error("{} tier is disabled: {} has failed for {} ms; {}", device.getName(),
      cache.getIoEngine(), health.outageMs(),
      retryMs == 0 ? "it is left so" : "it is tried every " + retryMs + " ms", failure);
    awaitWriters();
    evictAll();
    // A bucket is freed when the last reader of its block has released it.
    while (cache.getAllocator().getUsedSize() > 0) {
      // Waits without a limit: as awaitWriters does.
      TimeUnit.MILLISECONDS.sleep(10);
    }
    cache.ioEngine.shutdown();
    while (retryMs > 0 && !stopped) {
      TimeUnit.MILLISECONDS.sleep(retryMs);
      if (reopen() && works()) {
        health.works();
        LOG.info("{} tier is taken back, empty, after {} ms: {} works again", device.getName(),
          health.outageMs(), cache.getIoEngine());
        return;
      }
    }
  }

  /** Waits until no writer thread is writing that began before the device was disabled. */
  private void awaitWriters() throws InterruptedException {
    // Waits without a limit: the engine must not be closed during a write, and the waiting thread
    // serves this device alone, and is interrupted when the tier shuts down.
    while (writing.getAsInt() > 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  /** Evicts every block. */
  private void evictAll() {
    // The queue first: a block is in the map before it leaves the queue.
    cache.ramCache.delegate.keySet().forEach(cache::evictBlock);
    cache.backingMap.keySet().forEach(cache::evictBlock);
    cache.fullyCachedFiles.clear();
    cache.regionCachedSize.clear();
  }

  /**
   * Evicts a block without readers.
   * @return its bytes, for which there is a bucket now; the smallest bucket size if there is no
   *         such block
   */
  private int makePlace() {
    for (Map.Entry<BlockCacheKey, BucketEntry> candidate : cache.backingMap.entrySet()) {
      if (!candidate.getValue().isRpcRef() && cache.evictBlock(candidate.getKey())) {
        return candidate.getValue().getLength();
      }
    }
    return bucketSizes.min();
  }

  /**
   * Opens the engine anew: its file may have been deleted or cut, or belong to a file system that
   * was mounted again since.
   */
  private boolean reopen() {
    cache.ioEngine.shutdown();
    try {
      List<String> present = stores(cache.ioEngine);
      if (!present.equals(stores)) {
        throw new IOException("The cache was made on " + stores + ", what is there now is "
          + present + "; mount the device again, or restart the server if this is to be used");
      }
      IOEngine engine = device.openEngine();
      cache.ioEngine = engine;
      if (stopped) {
        engine.shutdown();
      }
      return !stopped;
    } catch (IOException | RuntimeException | InternalError e) {
      return failed(e);
    }
  }

  /** Returns the file systems that an engine's files are on, as far as they can be told. */
  private static List<String> stores(IOEngine engine) {
    List<String> stores = new ArrayList<>();
    if (engine instanceof PersistentIOEngine) {
      for (String path : ((PersistentIOEngine) engine).filePaths) {
        try {
          FileStore store =
            Files.getFileStore(new File(path).getAbsoluteFile().getParentFile().toPath());
          stores.add(store.name() + " (" + store.type() + ")");
        } catch (IOException | RuntimeException e) {
          stores.add("unknown");
        }
      }
    }
    return stores;
  }

  private boolean works() {
    IOEngine engine = cache.ioEngine;
    BucketEntry entry = null;
    try {
      int size = Math.min(PROBE_BYTES, bucketSizes.max());
      HFileBlock block = block(size);
      entry = write(block);
      if (entry == null) {
        // No place is free. There is no telling which size one that is made free will have.
        block = block(makePlace());
        entry = write(block);
      }
      if (entry == null) {
        return failed(new IOException("There is no place for a probe"));
      }
      engine.sync();
      Cacheable read = engine.read(entry);
      try {
        ByteBuff expected = block.getBufferReadOnly();
        ByteBuff actual = ((HFileBlock) read).getBufferReadOnly();
        return expected.limit() == actual.limit()
          && ByteBuff.compareTo(expected, 0, expected.limit(), actual, 0, actual.limit()) == 0
          || failed(new IOException("A probe has read other bytes than it wrote"));
      } finally {
        if (!engine.usesSharedMemory()) {
          read.release();
        }
      }
    } catch (IOException | RuntimeException | InternalError e) {
      return failed(e);
    } finally {
      if (entry != null) {
        entry.markAsEvicted();
      }
    }
  }

  private boolean failed(Throwable cause) {
    countFailure.run();
    failure = cause;
    LOG.debug("{} tier: probe of {} failed", device.getName(), cache.getIoEngine(), cause);
    return false;
  }

  /** Returns null if there is no place. */
  private BucketEntry write(HFileBlock block) throws IOException {
    try {
      return device.store(
        new BucketCache.RAMQueueEntry(KEY, block, 0, false,
          cache.isCachePersistent() && cache.ioEngine instanceof FileIOEngine),
        ByteBuffer.allocate(HFileBlock.BLOCK_METADATA_SPACE));
    } catch (CacheFullException e) {
      return null;
    }
  }

  /**
   * Returns a block of random bytes.
   * @param size the bytes that it takes when it is stored
   */
  private HFileBlock block(int size) {
    int header = HConstants.HFILEBLOCK_HEADER_SIZE_NO_CHECKSUM;
    byte[] bytes = new byte[size - HFileBlock.BLOCK_METADATA_SPACE
      - (cache.isCachePersistent() ? Long.BYTES : 0)];
    ThreadLocalRandom.current().nextBytes(bytes);
    return new HFileBlock(BlockType.DATA, bytes.length - header, bytes.length - header, -1,
      ByteBuff.wrap(ByteBuffer.wrap(bytes)), true, 0, -1, bytes.length,
      new HFileContextBuilder().withHBaseCheckSum(false).withBytesPerCheckSum(0).build(),
      ByteBuffAllocator.HEAP);
  }
}
