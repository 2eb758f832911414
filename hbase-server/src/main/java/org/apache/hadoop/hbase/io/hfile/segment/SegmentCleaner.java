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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps clean segments ahead of the writers, and tries devices that are bypassed.
 * <p>
 * To reclaim a segment is to read its footer, to write its hottest blocks again, as long as they
 * fit in a share of the segment, and to take the others out of the directory. Hot is what was asked
 * for twice since it came or was last written again; a block that came with a read has been asked
 * for once by that, one from a prefetch or from cache-on-write not at all. A block that is written
 * again must be asked for once more before its turn comes again.
 */
@InterfaceAudience.Private
final class SegmentCleaner implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentCleaner.class);

  /** How often a block was asked for that is written again. */
  static final int HOT = 2;

  private static final int TRIAL_SIZE = 64 * 1024;
  /** How long reclaiming a segment may take beyond what it takes to read and copy. */
  private static final long WAIT_PER_SEGMENT = TimeUnit.MILLISECONDS.toNanos(100);

  private final SegmentStore store;
  private final SegmentDirectory directory;

  SegmentCleaner(SegmentStore store, SegmentDirectory directory) {
    this.store = store;
    this.directory = directory;
  }

  @Override
  public void run() {
    try {
      StoreDevice device;
      while ((device = store.awaitWork()) != null) {
        try {
          if (device.isWorking()) {
            reclaim(device);
          } else {
            tryOut(device);
          }
        } catch (RuntimeException e) {
          LOG.error("Cannot reclaim a segment of {}; trying again", device, e);
          TimeUnit.SECONDS.sleep(1);
        }
      }
    } catch (InterruptedException e) {
      // The store is stopped.
      Thread.currentThread().interrupt();
    }
  }

  private void reclaim(StoreDevice device) throws InterruptedException {
    int segment = store.table().takeVictim(device);
    if (segment < 0) {
      // Those that could be have something done to them at this moment.
      TimeUnit.MILLISECONDS.sleep(1);
      return;
    }
    boolean done = false;
    try {
      SegmentFooter footer = footer(device, segment);
      if (footer == null) {
        // Its blocks can only be found by looking at them all
        store.metrics().badSegments.increment();
        directory.forgetSegments(segment, segment + 1);
      } else {
        rewriteHot(device, footer, segment);
        store.metrics().blocksReclaimed.add(store.removeAll(footer, segment));
        for (CompleteFile file : footer.completeFiles()) {
          if (directory.isComplete(file.name())) {
            store.keep(file);
          }
        }
      }
      store.metrics().segmentsReclaimed.increment();
      done = true;
    } finally {
      if (done) {
        store.table().cleaned(device, segment);
      } else {
        store.table().putBack(device, segment);
      }
    }
  }

  private SegmentFooter footer(StoreDevice device, int segment) {
    int term = device.term();
    try {
      SegmentFooter footer = device.readFooter(segment);
      device.readSucceeded();
      return footer;
    } catch (IOException | RuntimeException e) {
      store.readFailed(device, term, e);
      return null;
    }
  }

  private void rewriteHot(StoreDevice device, SegmentFooter footer, int segment)
    throws InterruptedException {
    byte[] accesses = new byte[footer.count()];
    int hot = 0;
    for (int i = 0; i < accesses.length; i++) {
      accesses[i] = (byte) directory.accesses(footer.name(i), footer.blockOffset(i),
        footer.location(segment, i));
      hot += accesses[i] >= HOT ? 1 : 0;
    }
    long share = (long) (store.rewriteShare() * store.segmentSize());
    long end = System.nanoTime() + WAIT_PER_SEGMENT;
    int rewritten = 0;
    for (int heat = Location.MAX_ACCESS; heat >= HOT && rewritten < hot; heat--) {
      for (int i = 0; i < accesses.length; i++) {
        if (
          accesses[i] == heat && footer.length(i) <= share
            && rewrite(device, footer, segment, i, end - System.nanoTime())
        ) {
          share -= footer.length(i);
          rewritten++;
          store.metrics().blocksRewritten.increment();
          store.metrics().bytesRewritten.add(footer.length(i));
        }
      }
    }
    store.metrics().hotBlocksReclaimed.add(hot - rewritten);
  }

  private boolean rewrite(StoreDevice device, SegmentFooter footer, int segment, int number,
    long waitNanos) throws InterruptedException {
    ByteBuffer entry = ByteBuffer.allocate(footer.length(number));
    int term = device.term();
    try {
      device.read(entry, segment, footer.place(number));
      device.readSucceeded();
    } catch (IOException | RuntimeException e) {
      store.readFailed(device, term, e);
      return false;
    }
    if (!EntryTag.local().check(entry, footer.blockOffset(number))) {
      store.metrics().badEntries.increment();
      return false;
    }
    return store.rewrite(footer.name(number), footer.blockOffset(number), entry,
      EntryTag.local().onDiskSize(), footer.location(segment, number), waitNanos);
  }

  /** Sees whether a device that is bypassed works again; if so, takes it back empty. */
  private void tryOut(StoreDevice device) {
    SegmentDevice opened = null;
    boolean taken = false;
    try {
      if (store.table().isQuiet(device)) {
        opened = store.reopen(device);
        if (works(opened)) {
          directory.forgetSegments(device.first(), device.end());
          store.takeBack(device, opened);
          taken = true;
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} does not work yet", device, e);
    } finally {
      if (!taken) {
        device.trialFailed(System.nanoTime());
        close(device, opened);
      }
    }
  }

  private static void close(StoreDevice device, SegmentDevice opened) {
    if (opened != null && opened != device.device()) {
      try {
        opened.close();
      } catch (IOException e) {
        LOG.debug("{} cannot be closed", device, e);
      }
    }
  }

  /** Writes random bytes where the first segment begins, brings them there, and reads them back. */
  private static boolean works(SegmentDevice device) throws IOException {
    byte[] bytes = new byte[TRIAL_SIZE];
    Random random = ThreadLocalRandom.current();
    random.nextBytes(bytes);
    device.write(ByteBuffer.wrap(bytes), Superblock.HEADER_SIZE);
    device.sync();
    ByteBuffer back = ByteBuffer.allocate(TRIAL_SIZE);
    device.read(back, Superblock.HEADER_SIZE);
    back.clear();
    return back.equals(ByteBuffer.wrap(bytes));
  }
}
