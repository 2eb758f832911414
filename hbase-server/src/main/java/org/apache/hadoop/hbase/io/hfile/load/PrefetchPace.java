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
package org.apache.hadoop.hbase.io.hfile.load;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides when a prefetch may read its next block. Thread-safe: several files are prefetched
 * concurrently.
 */
@InterfaceAudience.Private
public interface PrefetchPace {

  /** Reads without a limit. */
  PrefetchPace UNLIMITED = (file, bytes) -> {
  };

  /**
   * Called before each read from the file system, but not for cached blocks. May wait, but not
   * after {@link FilePrefetch#isCancelled} is true.
   * @param bytes number of bytes to be read, at least 1
   * @throws InterruptedException if the thread is interrupted, which ends the prefetch of the file
   */
  void beforeRead(FilePrefetch file, int bytes) throws InterruptedException;
}
