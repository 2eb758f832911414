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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileStreamReader;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the blocks of a file that is prefetched: index and bloom blocks, and single data blocks,
 * through the file's own reader; adjacent data blocks from a stream, which is opened for the second
 * of them. One thread at a time reads; {@link #readNanos} is thread-safe.
 */
@InterfaceAudience.Private
final class PrefetchBlockReader {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchBlockReader.class);

  /** Maximum gap in bytes between two data blocks that are read from one stream. */
  private static final long STREAM_GAP = 1 << 20;

  private final HFile.Reader reader;
  private final CacheConfig cacheConf;
  private final Configuration conf;
  private HFile.Reader stream;
  private long endOfLastRead;
  private volatile boolean reading;
  /** Start of the read in progress. */
  private volatile long readStart;

  PrefetchBlockReader(HFile.Reader reader, CacheConfig cacheConf, Configuration conf) {
    this.reader = reader;
    this.cacheConf = cacheConf;
    this.conf = conf;
  }

  /** Starts a scan of the data blocks: the first one is not adjacent to any. */
  void startDataScan() {
    endOfLastRead = Long.MIN_VALUE / 2;
  }

  /** Reads an index, bloom or other meta block into the cache. The caller releases it. */
  HFileBlock readMeta(long offset, int size, BlockType type) throws IOException {
    beginRead();
    try {
      return reader.readBlock(offset, size, true, true, false, false, type, null);
    } finally {
      reading = false;
    }
  }

  /** Reads a data block into the cache. The caller releases it. */
  HFileBlock readData(long offset, int size) throws IOException {
    HFile.Reader source = sourceOf(offset);
    beginRead();
    try {
      HFileBlock block = source.readBlock(offset, size, true, source == reader, false, false,
        BlockType.DATA, null, true);
      endOfLastRead = offset + size;
      return block;
    } finally {
      reading = false;
    }
  }

  private void beginRead() {
    readStart = System.nanoTime();
    reading = true;
  }

  /** Returns the duration of the read in progress in nanoseconds; 0 if there is none. */
  long readNanos() {
    return reading ? Math.max(0, System.nanoTime() - readStart) : 0;
  }

  /** Returns the file's own reader for single blocks, a stream for adjacent ones. */
  private HFile.Reader sourceOf(long offset) throws IOException {
    if (stream == null) {
      if (offset - endOfLastRead > STREAM_GAP) {
        return reader;
      }
      ReaderContext context = reader.getContext();
      stream = new HFileStreamReader(ReaderContextBuilder.newBuilder(context)
        .withReaderType(ReaderContext.ReaderType.STREAM)
        .withInputStreamWrapper(new FSDataInputStreamWrapper(context.getFileSystem(),
          context.getInputStreamWrapper().getReaderPath()))
        .build(), reader.getHFileInfo(), cacheConf, conf);
    }
    return stream;
  }

  /** Closes the stream; the file's own reader remains open. */
  void closeStream() {
    if (stream == null) {
      return;
    }
    try {
      stream.close(false);
    } catch (IOException e) {
      LOG.warn("Cannot close the prefetch stream of {}", reader.getPath(), e);
    }
    stream = null;
  }
}
