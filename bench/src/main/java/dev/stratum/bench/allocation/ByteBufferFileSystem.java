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
package dev.stratum.bench.allocation;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.StreamCapabilities;

/**
 * A local file system whose streams read into byte buffers as those of HDFS do, or have byte arrays
 * only as those of some object stores do. It allocates nothing for a read, so that what is measured
 * is HBase's. Hadoop makes it: <code>fs.file.impl</code>.
 */
public final class ByteBufferFileSystem extends RawLocalFileSystem {
  /** Whether streams read into byte buffers; true unless it is set. */
  static final String BYTE_BUFFERS_KEY = "stratum.bench.byte.buffers";

  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    FileChannel file = FileChannel.open(Paths.get(path.toUri().getPath()), StandardOpenOption.READ);
    return new FSDataInputStream(getConf().getBoolean(BYTE_BUFFERS_KEY, true)
      ? new ByteBufferStream(file)
      : new ArrayStream(file));
  }

  private static class ArrayStream extends FSInputStream {
    /** Through which arrays are read, since a channel would otherwise make a copy for itself. */
    private static final ThreadLocal<ByteBuffer> TRANSFER =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(256 * 1024));

    final FileChannel file;

    ArrayStream(FileChannel file) {
      this.file = file;
    }

    @Override
    public void seek(long position) throws IOException {
      file.position(position);
    }

    @Override
    public long getPos() throws IOException {
      return file.position();
    }

    @Override
    public boolean seekToNewSource(long targetPosition) {
      return false;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      ByteBuffer transfer = TRANSFER.get().clear();
      transfer.limit(Math.min(length, transfer.capacity()));
      int read = file.read(transfer);
      return taken(transfer, bytes, offset, read);
    }

    @Override
    public int read(long position, byte[] bytes, int offset, int length) throws IOException {
      ByteBuffer transfer = TRANSFER.get().clear();
      transfer.limit(Math.min(length, transfer.capacity()));
      int read = file.read(transfer, position);
      return taken(transfer, bytes, offset, read);
    }

    private static int taken(ByteBuffer transfer, byte[] bytes, int offset, int read) {
      if (read > 0) {
        transfer.flip().get(bytes, offset, read);
      }
      return read;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }

  private static final class ByteBufferStream extends ArrayStream
    implements ByteBufferReadable, ByteBufferPositionedReadable, StreamCapabilities {

    ByteBufferStream(FileChannel file) {
      super(file);
    }

    @Override
    public int read(ByteBuffer buffer) throws IOException {
      return file.read(buffer);
    }

    @Override
    public int read(long position, ByteBuffer buffer) throws IOException {
      return file.read(buffer, position);
    }

    @Override
    public void readFully(long position, ByteBuffer buffer) throws IOException {
      long at = position;
      while (buffer.hasRemaining()) {
        int read = file.read(buffer, at);
        if (read < 0) {
          throw new EOFException("End of the file at " + at);
        }
        at += read;
      }
    }

    @Override
    public boolean hasCapability(String capability) {
      return capability.equals(READBYTEBUFFER) || capability.equals(PREADBYTEBUFFER);
    }
  }
}
