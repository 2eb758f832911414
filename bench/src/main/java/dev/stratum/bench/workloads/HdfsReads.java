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
package dev.stratum.bench.workloads;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * Random reads of a file in HDFS through its client, positional and each thread with a stream of
 * its own: over the DataNode's socket, or from the DataNode's file by what HDFS calls the legacy
 * short circuit, which needs no native library.
 */
final class HdfsReads implements Closeable {
  /** The user that may read the DataNode's files directly. */
  static final String LOCAL_READER_KEY = "dfs.block.local-path-access.user";
  private static final Path FILE = new Path("/random-reads");
  private static final int READ_BYTES = 16 * 1024;
  private static final int WRITE_BYTES = 1 << 20;

  private final FileSystem fileSystem;

  /** @param conf of the cluster */
  HdfsReads(Configuration conf, boolean isShortCircuit) throws IOException {
    Configuration own = new Configuration(conf);
    own.setBoolean("dfs.client.read.shortcircuit", isShortCircuit);
    own.setBoolean("dfs.client.use.legacy.blockreader.local", isShortCircuit);
    // Clients that share this have the block reader of whoever was first.
    own.set("dfs.client.context", isShortCircuit ? "shortcircuit" : "socket");
    fileSystem = FileSystem.newInstance(own);
  }

  /** Makes the file, if it is not there yet. */
  void create(int megabytes) throws IOException {
    if (fileSystem.exists(FILE)) {
      return;
    }
    byte[] bytes = new byte[WRITE_BYTES];
    try (FSDataOutputStream out = fileSystem.create(FILE)) {
      for (int i = 0; i < megabytes; i++) {
        ThreadLocalRandom.current().nextBytes(bytes);
        out.write(bytes);
      }
    }
  }

  /** Returns a worker with a thread of its own. */
  LoadRun.Worker worker() throws IOException {
    FSDataInputStream in = fileSystem.open(FILE);
    long blocks = fileSystem.getFileStatus(FILE).getLen() / READ_BYTES;
    byte[] buffer = new byte[READ_BYTES];
    return new LoadRun.Worker() {
      @Override
      public String choose() {
        return "READ";
      }

      @Override
      public void perform(String operation) {
        try {
          in.readFully(ThreadLocalRandom.current().nextLong(blocks) * READ_BYTES, buffer);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }

  @Override
  public void close() throws IOException {
    fileSystem.close();
  }
}
