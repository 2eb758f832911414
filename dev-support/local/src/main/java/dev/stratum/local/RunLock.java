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
package dev.stratum.local;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Keeps two runs from using one folder. The lock is the operating system's, so that a killed run
 * leaves none behind; the file's content is the process id, for the message only.
 */
final class RunLock implements Closeable {
  private final FileChannel channel;

  private RunLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * @param folder the folder to lock, which exists
   * @throws RunLocalException if another run has the folder
   */
  static RunLock acquire(Path folder) throws IOException, RunLocalException {
    Path file = folder.resolve("lock");
    FileChannel channel =
      FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      throw new RunLocalException("Another run (process " + Files.readString(file).trim()
        + ") is using " + folder + "; stop it first.");
    }
    channel.truncate(0);
    channel.write(ByteBuffer.wrap(
      Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
    return new RunLock(channel);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
