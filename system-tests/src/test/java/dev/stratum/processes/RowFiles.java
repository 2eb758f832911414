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
package dev.stratum.processes;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.exceptions.MasterStoppedException;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;

/** Loads rows in bulk. */
final class RowFiles {
  private static final long MAX_WAIT_NANOS = TimeUnit.MINUTES.toNanos(5);

  private RowFiles() {
  }

  /**
   * Writes a file and has the servers take it over. Does so again if a master that was about to
   * stop has answered: clients of HBase 2.6 cannot read that answer, and thus do not try again by
   * themselves as they do for a master that has stopped. To load the same cells twice changes
   * nothing.
   * @param rows    in their order
   * @param version of all of them
   */
  static void load(Configuration conf, CheckedRows own, List<Integer> rows, long version)
    throws IOException, InterruptedException {
    long start = System.nanoTime();
    while (true) {
      try {
        loadOnce(conf, own, rows, version);
        return;
      } catch (IOException e) {
        boolean stops = e.toString().contains(MasterStoppedException.class.getName());
        if (!stops || System.nanoTime() - start > MAX_WAIT_NANOS) {
          throw e;
        }
        Thread.sleep(100);
      }
    }
  }

  private static void loadOnce(Configuration conf, CheckedRows own, List<Integer> rows,
    long version) throws IOException {
    Path directory = new Path(new Path(conf.get(HConstants.HBASE_DIR)).getParent(),
      "bulk/" + UUID.randomUUID());
    FileSystem fs = directory.getFileSystem(conf);
    Path file = new Path(new Path(directory, Bytes.toString(CheckedLoad.FAMILY)), "file");
    try (HFile.Writer writer = HFile.getWriterFactory(conf, CacheConfig.DISABLED)
      .withPath(fs, file).withFileContext(new HFileContextBuilder().build()).create()) {
      for (int row : rows) {
        Put put = own.put(row, version);
        List<Cell> cells = put.getFamilyCellMap().get(CheckedLoad.FAMILY);
        cells.sort(CellComparator.getInstance());
        for (Cell cell : cells) {
          writer.append(cell);
        }
      }
    }
    try {
      BulkLoadHFiles.create(conf).bulkLoad(CheckedLoad.TABLE, directory);
    } finally {
      fs.delete(directory, true);
    }
  }
}
