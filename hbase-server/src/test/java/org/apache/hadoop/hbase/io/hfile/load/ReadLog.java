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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/** Every open and every read of a file system, in their order. Thread-safe. */
public final class ReadLog {

  /** What the instances of {@link Hdfs} of this process log to, as Hadoop makes them. */
  public static final ReadLog HDFS = new ReadLog();

  /** An open, with a length of -1, or a read that returned some bytes. */
  public static final class Entry {
    public final Path path;
    public final long offset;
    public final int length;

    private Entry(Path path, long offset, int length) {
      this.path = path;
      this.offset = offset;
      this.length = length;
    }

    @Override
    public String toString() {
      return path.getName() + (length < 0 ? " opened" : " " + length + " bytes at " + offset);
    }
  }

  /** What is done before a file is read. */
  public interface BeforeRead {
    void read(Path path) throws IOException;
  }

  private static final BeforeRead NOTHING = path -> {
  };

  private final ConcurrentLinkedQueue<Entry> entries = new ConcurrentLinkedQueue<>();

  /** HDFS as named by fs.hdfs.impl. */
  public static final class Hdfs extends DistributedFileSystem {
    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
      return HDFS.log(path, super.open(path, bufferSize), NOTHING);
    }
  }

  /** Returns a view of the file system that logs here. */
  public FileSystem over(FileSystem fs) {
    return over(fs, NOTHING);
  }

  /** Returns a view of the file system that logs here. */
  public FileSystem over(FileSystem fs, BeforeRead beforeRead) {
    return new FilterFileSystem(fs) {
      @Override
      public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return log(path, super.open(path, bufferSize), beforeRead);
      }
    };
  }

  private FSDataInputStream log(Path path, FSDataInputStream in, BeforeRead beforeRead) {
    entries.add(new Entry(path, 0, -1));
    return new FSDataInputStream(new LoggedStream(path, in, beforeRead));
  }

  private final class LoggedStream extends FSInputStream {
    private final Path path;
    private final FSDataInputStream in;
    private final BeforeRead beforeRead;

    LoggedStream(Path path, FSDataInputStream in, BeforeRead beforeRead) {
      this.path = path;
      this.in = in;
      this.beforeRead = beforeRead;
    }

    private int log(long offset, int read) {
      if (read > 0) {
        entries.add(new Entry(path, offset, read));
      }
      return read;
    }

    @Override
    public int read() throws IOException {
      beforeRead.read(path);
      long offset = in.getPos();
      int b = in.read();
      log(offset, b < 0 ? 0 : 1);
      return b;
    }

    @Override
    public int read(byte[] buffer, int start, int length) throws IOException {
      beforeRead.read(path);
      long offset = in.getPos();
      return log(offset, in.read(buffer, start, length));
    }

    @Override
    public int read(long position, byte[] buffer, int start, int length) throws IOException {
      beforeRead.read(path);
      return log(position, in.read(position, buffer, start, length));
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long position) throws IOException {
      return in.seekToNewSource(position);
    }

    @Override
    public int available() throws IOException {
      return in.available();
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  public void clear() {
    entries.clear();
  }

  /** Returns how often the file was opened; a file keeps its name when it is moved. */
  public int opens(String file) {
    return (int) entries.stream().filter(e -> e.length < 0 && e.path.getName().equals(file))
      .count();
  }

  /** Returns the reads of a file that begin before the offset. */
  public List<Entry> reads(String file, long before) {
    List<Entry> reads = new ArrayList<>();
    for (Entry e : entries) {
      if (e.length > 0 && e.offset < before && e.path.getName().equals(file)) {
        reads.add(e);
      }
    }
    return reads;
  }

  /** Returns the bytes read of a file from before the offset. */
  public long bytes(String file, long before) {
    return reads(file, before).stream().mapToLong(e -> Math.min(e.length, before - e.offset))
      .sum();
  }

  /** Returns all bytes read of a file. */
  public long bytes(String file) {
    return bytes(file, Long.MAX_VALUE);
  }

  /** Returns the files that were opened, in that order. */
  public List<String> opened() {
    List<String> names = new ArrayList<>();
    for (Entry e : entries) {
      if (e.length < 0) {
        names.add(e.path.getName());
      }
    }
    return names;
  }

  /** Returns the names of the files read, with "open " before it where it was opened. */
  public List<String> order() {
    List<String> names = new ArrayList<>();
    for (Entry e : entries) {
      names.add(e.length < 0 ? "open " + e.path.getName() : e.path.getName());
    }
    return names;
  }
}
