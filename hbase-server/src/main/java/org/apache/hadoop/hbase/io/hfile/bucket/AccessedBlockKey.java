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

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The key of a block that was accessed before it is inserted. Equal to any other key of the block,
 * and of the same size on the heap.
 */
@InterfaceAudience.Private
final class AccessedBlockKey extends BlockCacheKey {
  private static final long serialVersionUID = 1L;

  private final byte accesses;
  private final boolean hot;
  /** The superclass would make a copy of the file's name from it. */
  private final Path path;

  /**
   * @param accesses 1 to {@link EntryAccesses#MAX}
   * @param hot      whether it is inserted as a block that a lookup has found
   */
  AccessedBlockKey(BlockCacheKey key, int accesses, boolean hot) {
    super(key.getHfileName(), key.getOffset(), key.isPrimary(), key.getBlockType());
    this.accesses = (byte) accesses;
    this.hot = hot;
    this.path = key.getFilePath();
  }

  @Override
  public Path getFilePath() {
    return path;
  }

  int accesses() {
    return accesses;
  }

  boolean isHot() {
    return hot;
  }
}
