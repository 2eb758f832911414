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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import org.apache.hadoop.hbase.io.hfile.bucket.InterruptSafeFileAccess;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A regular file of fixed size, or a block device. A file is created or extended only at startup,
 * after a check that its file system has enough space; it is sparse until it is written. An access
 * whose channel was closed by an interrupt, {@link InterruptSafeFileAccess}, opens it again if the
 * path is still the same file.
 */
@InterfaceAudience.Private
public final class FileSegmentDevice implements SegmentDevice {
  /** Opens files and block devices. */
  public static final Opener OPENER = new Opener() {
    @Override
    public SegmentDevice open(String path, long size) throws IOException {
      return new FileSegmentDevice(path, size);
    }

    @Override
    public SegmentDevice reopen(String path, long size, SegmentDevice former)
      throws IOException {
      return new FileSegmentDevice(path, size, (FileSegmentDevice) former);
    }
  };

  private static final String DEVICES = "/dev/";
  /** The only directory below {@link #DEVICES} for regular files. */
  private static final String SHARED_MEMORY = "/dev/shm/";

  private final String path;
  private final long size;
  private final boolean isFile;
  private final boolean isMade;
  /** The file system and the key of the file, as they were when the file was opened. */
  private final String fileSystem;
  private final Object fileKey;
  private volatile FileChannel channel;
  private volatile boolean closed;

  private interface Transfer {
    /**
     * Performs the access once.
     * @return the number of bytes, negative at the end of the file
     */
    int run(FileChannel channel, long position) throws IOException;
  }

  private interface ChannelAccess {
    void run(FileChannel channel) throws IOException;
  }

  /**
   * Opens the device at startup.
   * @param size bytes; a regular file gets this size, a block device must have at least this size
   * @throws IOException if the file cannot be opened or cannot get this size, or the block device
   *                     is smaller
   */
  public FileSegmentDevice(String path, long size) throws IOException {
    this(path, size, true, null);
  }

  /**
   * Opens the device after a failure: a file is not extended before {@link #restoreSize}, and is
   * created only on its former file system.
   * @param former the device as it was opened before, null if it could not be opened
   * @throws IOException if it does not exist and cannot be created, or is on another file system
   */
  FileSegmentDevice(String path, long size, FileSegmentDevice former) throws IOException {
    this(path, size, false, former);
  }

  private FileSegmentDevice(String path, long size, boolean makes, FileSegmentDevice former)
    throws IOException {
    this.path = path;
    this.size = size;
    File file = new File(path);
    boolean exists = file.exists();
    this.isFile = !exists || file.isFile();
    this.isMade = !exists;
    if (isFile) {
      if (makes) {
        checkSpace(file);
      } else if (!exists) {
        checkFileSystem(file.getAbsoluteFile().getParentFile(), former);
        checkSpace(file);
      }
    }
    RandomAccessFile opened = new RandomAccessFile(file, "rw");
    try {
      if (isFile) {
        if ((makes || isMade) && opened.length() != size) {
          opened.setLength(size);
        }
      } else if (opened.getChannel().size() < size) {
        throw new IOException(path + " has " + opened.getChannel().size() + " bytes, but " + size
          + " are needed");
      }
      if (former != null) {
        checkFileSystem(file, former);
      }
      this.fileSystem = fileSystemOf(file);
      this.fileKey = fileKeyOf(file);
    } catch (IOException | RuntimeException e) {
      opened.close();
      throw e;
    }
    this.channel = opened.getChannel();
  }

  /** Checks, before anything is changed, that a regular file can get its size. */
  private void checkSpace(File file) throws IOException {
    if (!file.exists() && path.startsWith(DEVICES) && !path.startsWith(SHARED_MEMORY)) {
      throw new IOException(path + " is not a device; use an existing device, or a file elsewhere");
    }
    long growth = size - file.length();
    if (growth > 0 && file.getAbsoluteFile().getParentFile().getUsableSpace() < growth) {
      throw new IOException(path + " cannot grow by " + growth + " bytes to " + size
        + ": its file system does not have enough space");
    }
  }

  /**
   * Checks that a file, or its directory if it does not exist, is on the device's former file
   * system.
   */
  private void checkFileSystem(File file, FileSegmentDevice former) throws IOException {
    if (former == null) {
      throw new IOException(path + " does not exist, and did not at startup");
    }
    String now = fileSystemOf(file);
    if (!now.equals(former.fileSystem)) {
      throw new IOException(path + " was on " + former.fileSystem + " and is on " + now
        + " now; mount the former one again, or restart the server to use this one");
    }
  }

  private static String fileSystemOf(File file) throws IOException {
    FileStore store = Files.getFileStore(file.toPath());
    return store.name() + " (" + store.type() + ")";
  }

  private static Object fileKeyOf(File file) throws IOException {
    return Files.readAttributes(file.toPath(), BasicFileAttributes.class).fileKey();
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
    access(open -> {
      buffer.position(start);
      while (buffer.hasRemaining()) {
        if (transfer.run(open, position + buffer.position() - start) < 0) {
          throw new EOFException(path + " is shorter than its initial size");
        }
      }
    });
  }

  private void access(ChannelAccess access) throws IOException {
    InterruptSafeFileAccess.run(() -> {
      FileChannel open = channel;
      try {
        access.run(open);
      } catch (ClosedChannelException e) {
        reopen(open, e);
        throw e;
      }
    });
  }

  private synchronized void reopen(FileChannel former, ClosedChannelException cause)
    throws IOException {
    if (closed) {
      throw new IOException(path + " is closed", cause);
    }
    if (channel == former) {
      File file = new File(path);
      if (!file.exists() || !Objects.equals(fileKey, fileKeyOf(file))) {
        // Creating it again or opening another file would write to a file that is never read.
        throw new IOException(path + " was replaced by another file", cause);
      }
      channel = new RandomAccessFile(path, "rw").getChannel();
    }
  }

  @Override
  public void sync() throws IOException {
    access(open -> open.force(false));
  }

  @Override
  public boolean isMade() {
    return isMade;
  }

  @Override
  public void restoreSize() throws IOException {
    File file = new File(path);
    if (isFile && file.length() != size) {
      checkSpace(file);
      try (RandomAccessFile cut = new RandomAccessFile(file, "rw")) {
        cut.setLength(size);
      }
    }
  }

  @Override
  public long usableSpace() throws IOException {
    return isFile
      ? Files.getFileStore(new File(path).toPath()).getUsableSpace()
      : Long.MAX_VALUE;
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
