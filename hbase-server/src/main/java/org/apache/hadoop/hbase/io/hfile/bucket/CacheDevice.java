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

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The device of a bucket cache tier, accessed whatever {@link DeviceHealth} says of it.
 * Thread-safe.
 */
@InterfaceAudience.Private
interface CacheDevice {

  /** Returns the short name of the tier for logs and threads, as L2. */
  String getName();

  /** Opens the engine as it was opened for the first time. */
  IOEngine openEngine() throws IOException;

  /** Reads the block of an entry, which the caller has retained. */
  Cacheable readFrom(IOEngine engine, BucketEntry entry) throws IOException;

  /**
   * Writes a block.
   * @param metaBuff for the metadata of the block
   * @return its entry; null if there is nothing to write
   */
  BucketEntry store(BucketCache.RAMQueueEntry queued, ByteBuffer metaBuff) throws IOException;

  /** Syncs the device. */
  void syncDevice() throws IOException;
}
