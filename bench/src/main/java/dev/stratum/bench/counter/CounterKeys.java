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
package dev.stratum.bench.counter;

import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.generator.ScrambledZipfianGenerator;

/**
 * Rows of counters, drawn alike often or as YCSB draws them, some much more often than others.
 * Thread-safe.
 */
final class CounterKeys {
  private final int rows;
  private final ScrambledZipfianGenerator zipfian;

  /** @param draw <code>uniform</code> or <code>zipfian</code> */
  CounterKeys(int rows, String draw) {
    this.rows = rows;
    switch (draw) {
      case "uniform":
        zipfian = null;
        break;
      case "zipfian":
        zipfian = new ScrambledZipfianGenerator(rows);
        break;
      default:
        throw new IllegalArgumentException(
          "keys=" + draw + " is not known: use uniform or zipfian");
    }
  }

  byte[] draw() {
    long row =
      zipfian == null ? ThreadLocalRandom.current().nextInt(rows) : zipfian.nextValue();
    return Bytes.toBytes(String.format("user%019d", row));
  }
}
