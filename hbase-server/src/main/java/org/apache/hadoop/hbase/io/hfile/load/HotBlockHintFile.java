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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The file with the hint of a region, which the server that closes the region writes, and which the
 * one that opens it reads and deletes. A slow server may still write while others do either.
 * <p>
 * Invariant: whatever others do, {@link #readAndDelete} returns one whole hint or none, and
 * {@link #write} does not create the directory of a region that was deleted.
 */
@InterfaceAudience.Private
public final class HotBlockHintFile {
  private final FileSystem files;
  private final Path path;

  /**
   * @param files the file system
   * @param path  of the file
   */
  public HotBlockHintFile(FileSystem files, Path path) {
    this.files = files;
    this.path = path;
  }

  /**
   * Writes a hint, in place of what is there.
   * @throws IOException if that fails, or if another server replaced or deleted the file meanwhile
   */
  public void write(HotBlockHint hint) throws IOException {
    // Not recursive: a region that was deleted meanwhile does not come back as a directory.
    try (FSDataOutputStream out = files.createFile(path).overwrite(true).build()) {
      out.write(hint.toBytes());
    }
  }

  /**
   * Reads the hint and deletes the file, readable or not.
   * @return null if there is none
   * @throws IOException if the file cannot be read or deleted, or has no whole hint
   */
  public HotBlockHint readAndDelete() throws IOException {
    byte[] bytes = new byte[HotBlockHint.MAX_BYTES + 1];
    int length = 0;
    try (FSDataInputStream in = files.open(path)) {
      for (int read = 0; read >= 0 && length < bytes.length; length += Math.max(0, read)) {
        read = in.read(bytes, length, bytes.length - length);
      }
    } catch (FileNotFoundException e) {
      return null;
    }
    files.delete(path, false);
    return HotBlockHint.parse(Arrays.copyOf(bytes, length));
  }
}
