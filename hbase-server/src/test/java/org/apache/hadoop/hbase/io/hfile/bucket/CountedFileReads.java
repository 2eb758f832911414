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
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.Cacheable;

/** A bucket cache over a file that counts how often a block is read from it. */
public final class CountedFileReads extends BucketCache {
  private static final int WRITERS = 1;
  private static final int QUEUE = 10_000;

  public CountedFileReads(String file, long capacity, int blockSize, Configuration conf)
    throws IOException {
    super("file:" + file, capacity, blockSize, null, WRITERS, QUEUE, null, 60_000, conf);
    ioEngine.shutdown();
    try {
      Field engine = BucketCache.class.getDeclaredField("ioEngine");
      engine.setAccessible(true);
      engine.set(this, new Counted(file, capacity));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns whether all blocks that were put in are in the file. */
  public boolean isWritten() {
    return ramCache.isEmpty();
  }

  public int reads() {
    return ((Counted) ioEngine).reads.get();
  }

  private static final class Counted extends FileIOEngine {
    private final AtomicInteger reads = new AtomicInteger();

    Counted(String file, long capacity) throws IOException {
      super(capacity, false, file);
    }

    @Override
    Cacheable readAlone(BucketEntry entry) throws IOException {
      reads.incrementAndGet();
      return super.readAlone(entry);
    }
  }
}
