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
package org.apache.hadoop.hbase.regionserver.wal;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The directory that has the WALs of one server. A RegionServer makes it when it starts, before its
 * first WAL. The master fences a server that it takes for dead by renaming the directory, and
 * splits the files that it finds in it then. WALs are made while a server runs: one for each group
 * of regions, and one for hbase:meta. If a WAL made the directory anew, nothing would ever split
 * it, and writes that were acknowledged would be lost.
 */
@InterfaceAudience.Private
final class WALDirectory {

  private WALDirectory() {
  }

  /**
   * Called before a WAL is made. Writers do not make directories, so a rename that follows this
   * call fails the first writer of the WAL.
   * @param owner the server that the WAL belongs to; may be null. If it is a RegionServer without a
   *              directory, it is aborted.
   * @throws IOException if the directory does not exist, and must not or cannot be made
   */
  static void prepare(FileSystem fs, Path directory, Abortable owner) throws IOException {
    if (fs.exists(directory)) {
      return;
    }
    if (owner instanceof RegionServerServices) {
      IOException e = new FileNotFoundException(
        directory + " does not exist: the master has fenced this server, or it was removed");
      owner.abort("The directory of the WALs is gone", e);
      throw e;
    }
    if (!fs.mkdirs(directory)) {
      throw new IOException("Cannot make " + directory);
    }
  }
}
