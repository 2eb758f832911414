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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestHdfsBlocksBenchmark {
  private static final int SIZE = 16384;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final HdfsBlocksBenchmark benchmark = new HdfsBlocksBenchmark();

  @Test
  public void testBlocksReadIntoByteBuffersAreOfTheSizeAskedFor() throws IOException {
    read(true);
  }

  @Test
  public void testBlocksReadIntoArraysAreOfTheSizeAskedFor() throws IOException {
    read(false);
  }

  private void read(boolean byteBuffers) throws IOException {
    HdfsBlocksBenchmark.Reading file = new HdfsBlocksBenchmark.Reading();
    file.size = SIZE;
    file.megabytes = 1;
    file.byteBuffers = byteBuffers;
    file.pool = "classes";
    file.fill();
    try {
      for (int i = 0; i < 100; i++) {
        assertOfSize(benchmark.pread(file));
        assertOfSize(benchmark.stream(file));
      }
    } finally {
      file.close();
    }
  }

  private static void assertOfSize(int sizeWithHeader) {
    assertTrue("size " + sizeWithHeader, sizeWithHeader >= SIZE && sizeWithHeader < SIZE + 300);
  }

  @Test
  public void testBlocksAreWrittenToHdfs() throws IOException {
    HdfsBlocksBenchmark.Flushing written = new HdfsBlocksBenchmark.Flushing();
    written.size = SIZE;
    written.megabytes = 1;
    written.fill();
    for (int i = 0; i < 5; i++) {
      written.sample();
    }
    try {
      // This writes one file and a half.
      for (int i = 0; i < 96; i++) {
        benchmark.flush(written);
      }
      FileStatus[] files = written.fs.listStatus(new Path("/"));
      assertEquals(1, files.length);
      assertEquals(1, files[0].getReplication());
    } finally {
      written.close();
    }
  }
}
