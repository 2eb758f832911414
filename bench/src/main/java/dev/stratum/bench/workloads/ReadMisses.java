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

import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * How many lookups found no block in caches. A sample of one moment; immutable.
 */
final class ReadMisses {
  static final ReadMisses NONE = new ReadMisses(0, 0, 0, 0);

  private final long ofReads;
  private final long data;
  private final long index;
  private final long bloom;

  private ReadMisses(long ofReads, long data, long index, long bloom) {
    this.ofReads = ofReads;
    this.data = data;
    this.index = index;
    this.bloom = bloom;
  }

  /** Returns the misses of a cache until now. */
  static ReadMisses of(CacheStats stats) {
    return new ReadMisses(stats.getMissCachingCount(), stats.getDataMissCount(),
      stats.getRootIndexMissCount() + stats.getIntermediateIndexMissCount()
        + stats.getLeafIndexMissCount(),
      stats.getBloomChunkMissCount() + stats.getGeneralBloomMetaMissCount());
  }

  ReadMisses plus(ReadMisses other) {
    return new ReadMisses(ofReads + other.ofReads, data + other.data, index + other.index,
      bloom + other.bloom);
  }

  ReadMisses since(ReadMisses earlier) {
    return new ReadMisses(ofReads - earlier.ofReads, data - earlier.data, index - earlier.index,
      bloom - earlier.bloom);
  }

  /** Returns the misses of reads that cache what they read: of no compaction, and no prefetch. */
  long ofReads() {
    return ofReads;
  }

  /**
   * Adds the misses to a sample: as <code>misses</code> those of {@link #ofReads}; by the kind of
   * block, those of compactions too.
   */
  void addTo(JsonObject sample) {
    sample.addProperty("misses", ofReads);
    sample.addProperty("dataMisses", data);
    sample.addProperty("indexMisses", index);
    sample.addProperty("bloomMisses", bloom);
  }
}
