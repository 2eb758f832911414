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
package org.apache.hadoop.hbase.io.hfile.segment.recovery;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.CheckedOutputStream;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStore;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The state that a cache saves to a file on a clean stop, so that the next process knows all blocks
 * at once: the files, the index, and the state of the segments. The file is read once and then
 * removed. It is valid only for the segments as they were at that moment, which
 * {@link SegmentStore#restore} verifies.
 */
@InterfaceAudience.Private
public final class SegmentSnapshot {
  private static final int MAGIC = 0x5347_534e;
  private static final int VERSION = 1;
  private static final int BUFFER_BYTES = 1 << 20;
  /** Far more than a store with the maximum number of segments needs. */
  private static final int MAX_STORE_PART = 1 << 26;

  private final Path path;

  public SegmentSnapshot(Path path) {
    this.path = path;
  }

  /**
   * Writes the snapshot. No other thread may change anything meanwhile. The file is written
   * completely or not at all.
   */
  public void write(CachedFiles files, SegmentIndex index, SegmentStore store) throws IOException {
    Path part = path.resolveSibling(path.getFileName() + ".part");
    try {
      CRC32 sum = new CRC32();
      try (FileOutputStream file = new FileOutputStream(part.toFile());
        DataOutputStream out = new DataOutputStream(
          new CheckedOutputStream(new BufferedOutputStream(file, BUFFER_BYTES), sum))) {
        out.writeInt(MAGIC);
        out.writeInt(VERSION);
        files.writeTo(out);
        index.writeTo(out);
        ByteArrayOutputStream storePart = new ByteArrayOutputStream();
        store.writeTo(new DataOutputStream(storePart));
        out.writeInt(storePart.size());
        storePart.writeTo(out);
        out.writeLong(sum.getValue());
        out.flush();
        file.getChannel().force(true);
      }
      Files.move(part, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /**
   * Reads the file, if it exists, and removes it. Files and index are empty before, and filled only
   * if this returns true.
   * @return whether files, index and store have the state that was written
   * @throws IOException if the file cannot be read or is damaged
   */
  public boolean read(CachedFiles files, SegmentIndex index, SegmentStore store)
    throws IOException {
    if (!Files.exists(path)) {
      return false;
    }
    boolean restored = false;
    try {
      byte[] storePart;
      try {
        storePart = readParts(files, index);
      } finally {
        Files.delete(path);
      }
      restored = store.restore(new DataInputStream(new ByteArrayInputStream(storePart)));
    } finally {
      if (!restored) {
        index.clear();
        files.clear();
      }
    }
    return restored;
  }

  private byte[] readParts(CachedFiles files, SegmentIndex index) throws IOException {
    CRC32 sum = new CRC32();
    try (DataInputStream in = new DataInputStream(new CheckedInputStream(
      new BufferedInputStream(Files.newInputStream(path), BUFFER_BYTES), sum))) {
      if (in.readInt() != MAGIC || in.readInt() != VERSION) {
        throw new IOException(path + " is not a snapshot of this version");
      }
      files.readFrom(in);
      index.readFrom(in);
      byte[] storePart = readStorePart(in);
      long read = sum.getValue();
      if (in.readLong() != read) {
        throw new IOException(path + " has a checksum mismatch");
      }
      return storePart;
    }
  }

  private static byte[] readStorePart(DataInput in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > MAX_STORE_PART) {
      throw new IOException("Segment states have an invalid length of " + length + " bytes");
    }
    byte[] storePart = new byte[length];
    in.readFully(storePart);
    return storePart;
  }
}
