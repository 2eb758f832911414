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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.nio.ByteBuff;

/** A device over real files that fails, or is slow to, when a test says so. */
final class DeviceOnCue {
  volatile boolean readsFail;
  volatile boolean writesFail;
  volatile boolean syncsFail;
  volatile boolean openingFails;
  /** How long it takes to fail. */
  volatile long millisToFail;
  /** A permit for each failure, null for any number. */
  volatile Semaphore mayFail;

  final AtomicInteger reads = new AtomicInteger();
  final AtomicInteger writes = new AtomicInteger();
  final AtomicInteger syncs = new AtomicInteger();
  final AtomicInteger opened = new AtomicInteger();

  /** The device of the tier that is being constructed; its engine is made before its fields. */
  private static final ThreadLocal<DeviceOnCue> CURRENT = new ThreadLocal<>();

  void fails(boolean fails) {
    readsFail = fails;
    writesFail = fails;
    syncsFail = fails;
    openingFails = fails;
  }

  private void act(boolean fails, String what) throws IOException {
    if (fails) {
      try {
        Thread.sleep(millisToFail);
        if (mayFail != null) {
          mayFail.acquire();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      throw new IOException("The device fails to " + what);
    }
  }

  BucketCacheTier tier(TierSettings settings) throws IOException {
    CURRENT.set(this);
    try {
      return new Tier(settings, this);
    } finally {
      CURRENT.remove();
    }
  }

  private static final class Tier extends BucketCacheTier {
    private final DeviceOnCue device;

    Tier(TierSettings settings, DeviceOnCue device) throws IOException {
      super("L2", settings);
      this.device = device;
    }

    @Override
    IOEngine getIOEngineFromName(String name, long capacity, String persistencePath)
      throws IOException {
      DeviceOnCue cue = device == null ? CURRENT.get() : device;
      cue.opened.incrementAndGet();
      cue.act(cue.openingFails, "open");
      String path = name.substring(name.indexOf(':') + 1);
      return name.startsWith("pmem:")
        ? new Memory(cue, path, capacity)
        : new Files(cue, path, capacity, persistencePath != null);
    }
  }

  private static final class Files extends FileIOEngine {
    private final DeviceOnCue cue;

    Files(DeviceOnCue cue, String path, long capacity, boolean persistent) throws IOException {
      super(capacity, persistent, path);
      this.cue = cue;
    }

    @Override
    public Cacheable read(BucketEntry entry) throws IOException {
      cue.reads.incrementAndGet();
      cue.act(cue.readsFail, "read");
      return super.read(entry);
    }

    @Override
    public void write(ByteBuff bytes, long offset) throws IOException {
      cue.writes.incrementAndGet();
      cue.act(cue.writesFail, "write");
      super.write(bytes, offset);
    }

    @Override
    public void sync() throws IOException {
      cue.syncs.incrementAndGet();
      cue.act(cue.syncsFail, "sync");
    }
  }

  private static final class Memory extends SharedMemoryMmapIOEngine {
    private final DeviceOnCue cue;

    Memory(DeviceOnCue cue, String path, long capacity) throws IOException {
      super(path, capacity);
      this.cue = cue;
    }

    @Override
    public Cacheable read(BucketEntry entry) throws IOException {
      cue.reads.incrementAndGet();
      cue.act(cue.readsFail, "read");
      return super.read(entry);
    }

    @Override
    public void write(ByteBuffer bytes, long offset) throws IOException {
      cue.act(cue.writesFail, "write");
      super.write(bytes, offset);
    }

    @Override
    public void write(ByteBuff bytes, long offset) throws IOException {
      cue.writes.incrementAndGet();
      cue.act(cue.writesFail, "write");
      super.write(bytes, offset);
    }

    @Override
    public void sync() throws IOException {
      cue.syncs.incrementAndGet();
      cue.act(cue.syncsFail, "sync");
    }
  }
}
