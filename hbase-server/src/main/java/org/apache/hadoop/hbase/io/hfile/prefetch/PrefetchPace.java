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
package org.apache.hadoop.hbase.io.hfile.prefetch;

import org.apache.yetus.audience.InterfaceAudience;

/** Says when a warm-up may read its next block. Thread-safe: several files are warmed at once. */
@InterfaceAudience.Private
public interface PrefetchPace {

  /** Reads as fast as it can. */
  PrefetchPace UNLIMITED = (file, bytes) -> {
  };

  /**
   * Called before each read of the file system, and not for blocks that are found cached. May wait,
   * but not past {@link FilePrefetch#isCancelled}.
   * @param bytes that will be read, from 1 on
   * @throws InterruptedException if the thread is interrupted, which ends the warm-up of the file
   */
  void beforeRead(FilePrefetch file, int bytes) throws InterruptedException;
}
