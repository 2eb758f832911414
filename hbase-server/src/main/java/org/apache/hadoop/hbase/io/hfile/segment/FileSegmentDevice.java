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

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file, made as large as it is to be, or a block device. A file channel is closed under everyone
 * when a thread is interrupted that uses it; so an interrupt is put off until an access is done,
 * and an access whose channel was closed by another opens it anew and starts over.
 */
@InterfaceAudience.Private
final class FileSegmentDevice implements SegmentDevice {

  private final String path;
  private final long size;
  private volatile FileChannel channel;
  private volatile boolean closed;

  private interface Transfer {
    /** @return how many bytes, negative at the end of the file */
    int run(FileChannel channel, long position) throws IOException;
  }

  /**
   * @param size bytes; a regular file gets this size, a block device must have as much
   * @throws IOException if the file cannot be opened, cannot get this size, or has not got it
   */
  FileSegmentDevice(String path, long size) throws IOException {
    this.path = path;
    File file = new File(path);
    boolean special = file.exists() && !file.isFile();
    RandomAccessFile opened = new RandomAccessFile(file, "rw");
    try {
      if (special) {
        long has = opened.getChannel().size();
        if (has < size) {
          throw new IOException(path + " has " + has + " bytes, " + size + " are needed");
        }
      } else if (opened.length() != size) {
        long growth = size - opened.length();
        if (growth > 0 && file.getAbsoluteFile().getParentFile().getUsableSpace() < growth) {
          throw new IOException(path + " cannot grow by " + growth + " bytes to " + size
            + ": its file system has not got the space");
        }
        opened.setLength(size);
      }
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    this.size = size;
    this.channel = opened.getChannel();
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public void read(ByteBuffer to, long position) throws IOException {
    access(to, position, (open, at) -> open.read(to, at));
  }

  @Override
  public void write(ByteBuffer from, long position) throws IOException {
    access(from, position, (open, at) -> open.write(from, at));
  }

  private void access(ByteBuffer buffer, long position, Transfer transfer) throws IOException {
    int start = buffer.position();
    boolean interrupted = Thread.interrupted();
    try {
      while (buffer.hasRemaining()) {
        FileChannel open = channel;
        try {
          if (transfer.run(open, position + buffer.position() - start) < 0) {
            throw new EOFException(path + " is shorter than it was made");
          }
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          buffer.position(start);
          reopen(open, e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private synchronized void reopen(FileChannel former, ClosedChannelException cause)
    throws IOException {
    if (closed) {
      throw cause;
    }
    if (channel == former) {
      if (!new File(path).exists()) {
        // To make it anew would be to write where nobody looks
        throw new IOException(path + " is not there any more", cause);
      }
      channel = new RandomAccessFile(path, "rw").getChannel();
    }
  }

  @Override
  public void sync() throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        FileChannel open = channel;
        try {
          open.force(false);
          return;
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
          reopen(open, e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public synchronized void close() throws IOException {
    closed = true;
    channel.close();
  }

  @Override
  public String toString() {
    return path;
  }
}
