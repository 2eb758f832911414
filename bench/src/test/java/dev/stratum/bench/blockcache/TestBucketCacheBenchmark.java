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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
public class TestBucketCacheBenchmark {
  private final BucketCacheBenchmark benchmark = new BucketCacheBenchmark();

  public TestBucketCacheBenchmark(String engine) {
    benchmark.engine = engine;
    benchmark.size = 32768;
    benchmark.megabytes = 2;
  }

  @Parameters(name = "{0}")
  public static List<String> engines() {
    return List.of("offheap", "file", "mmap");
  }

  @Test
  public void hitsGiveDataBlocksAndMissesNone() throws Exception {
    benchmark.fill();
    try {
      for (int i = 0; i < 200; i++) {
        int sizeWithHeader = benchmark.hit();
        // The last block of the file is smaller.
        assertTrue("size " + sizeWithHeader, sizeWithHeader > 33 && sizeWithHeader < 34_000);
        assertNull(benchmark.miss());
      }
    } finally {
      benchmark.close();
    }
    try (Stream<Path> left = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      assertTrue(left.noneMatch(path -> path.getFileName().toString().startsWith("stratum-bench")
        && !path.toString().endsWith(".jar")));
    }
  }
}
