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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.stream.Stream;
import org.apache.yetus.audience.InterfaceAudience;

/** The bucket sizes of a bucket cache, in bytes. Immutable. */
@InterfaceAudience.Private
final class BucketSizes {

  /** Ascending. */
  private final int[] sizes;

  BucketSizes(BucketAllocator allocator) {
    this.sizes = Stream.of(allocator.getIndexStatistics())
      .mapToInt(size -> (int) size.itemSize()).toArray();
  }

  /** Returns the smallest size that holds so many bytes; 0 if they exceed the largest. */
  int fitting(int length) {
    for (int size : sizes) {
      if (length <= size) {
        return size;
      }
    }
    return 0;
  }

  /** Returns the largest size, which is the largest block that can be cached. */
  int max() {
    return sizes[sizes.length - 1];
  }
}
