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
package dev.stratum.jmh;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;

/**
 * Result files that JMH wrote, of two JVMs per side; stock lacks the benchmark <code>miss</code>.
 */
final class Samples {
  static final Trial.Key HIT = key("BucketCacheBenchmark.hit", "AverageTime");
  static final Trial.Key MISS = key("BucketCacheBenchmark.miss", "AverageTime");
  static final Trial.Key INSERT = key("BucketCacheInsertBenchmark.insert", "SampleTime");

  private Samples() {
  }

  private static Trial.Key key(String name, String mode) {
    return new Trial.Key("dev.stratum.bench.blockcache." + name, mode,
      Map.of("engine", "file", "size", "8192"));
  }

  static Map<Trial.Key, ResultFile.Measured> read(String side) throws IOException {
    try {
      return ResultFile.read(Path.of(Samples.class.getResource("/" + side + ".json").toURI()));
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  static Comparison comparison() throws IOException {
    return new Comparison(read("stock"), read("fork"));
  }

  static Comparison forkAlone() throws IOException {
    return new Comparison(Map.of(), read("fork"));
  }
}
