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
package org.apache.hadoop.hbase.io.hfile;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.hbase.fs.HFileSystem;

/**
 * A local file system whose streams read into byte buffers as those of HDFS do, so that HBase
 * verifies its own checksums, and whose reads a test can make fail.
 */
public final class ByteBufferReads extends RawLocalFileSystem {
  /** How all streams read. */
  private static volatile Read read = FileChannel::read;

  /** Reads from a position, as {@link FileChannel#read(ByteBuffer, long)} does. */
  public interface Read {
    int read(FileChannel file, ByteBuffer into, long position) throws IOException;
  }

  /** Returns a file system as a RegionServer has it, over one of this kind. */
  public static HFileSystem over(Configuration conf) throws IOException {
    conf.set("fs.defaultFS", "file:///");
    conf.setClass("fs.file.impl", ByteBufferReads.class, FileSystem.class);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    return new HFileSystem(conf, true);
  }

  /** Has all streams read like this from now on. */
  static void read(Read how) {
    read = how;
  }

  /** Has all streams read as usual again. */
  static void readAsUsual() {
    read = FileChannel::read;
  }

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new Stream(
      FileChannel.open(Paths.get(path.toUri().getPath()), StandardOpenOption.READ)));
  }

  private static final class Stream extends FSInputStream
    implements ByteBufferReadable, ByteBufferPositionedReadable, StreamCapabilities {
    private final FileChannel file;
    private long position;

    Stream(FileChannel file) {
      this.file = file;
    }

    @Override
    public void seek(long to) {
      position = to;
    }

    @Override
    public long getPos() {
      return position;
    }

    @Override
    public boolean seekToNewSource(long targetPosition) {
      return false;
    }

    @Override
    public int read() throws IOException {
      ByteBuffer one = ByteBuffer.allocate(1);
      return read(one) < 0 ? -1 : one.get(0) & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      return read(ByteBuffer.wrap(bytes, offset, length));
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
      int bytes = read.read(file, into, position);
      position += Math.max(bytes, 0);
      return bytes;
    }

    @Override
    public int read(long from, byte[] bytes, int offset, int length) throws IOException {
      return read(from, ByteBuffer.wrap(bytes, offset, length));
    }

    @Override
    public int read(long from, ByteBuffer into) throws IOException {
      return read.read(file, into, from);
    }

    @Override
    public void readFully(long from, ByteBuffer into) throws IOException {
      long at = from;
      while (into.hasRemaining()) {
        int bytes = read(at, into);
        if (bytes < 0) {
          throw new EOFException("End of the file at " + at);
        }
        at += bytes;
      }
    }

    @Override
    public boolean hasCapability(String capability) {
      return capability.equals(READBYTEBUFFER) || capability.equals(PREADBYTEBUFFER);
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
