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

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The block cache of stock's side; <code>stock.cache</code> in <code>suite.properties</code>. */
enum StockCache {
  /** A BucketCache on a file for data, an LRU cache on the heap for meta blocks. */
  FILE,
  /** A BucketCache off the heap for data, an LRU cache on the heap for meta blocks. */
  OFF_HEAP,
  /** An LRU cache on the heap for all blocks. */
  ON_HEAP;

  /** Returns the values of the key. */
  static List<String> names() {
    return Stream.of(values()).map(StockCache::toString).toList();
  }

  /** @param value one of {@link #names()} */
  static StockCache of(String value) {
    return values()[names().indexOf(value)];
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns whether it has room for a whole table; the others read the rest from HDFS. */
  boolean holdsTable() {
    return this == FILE;
  }
}
