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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * The source of an inserted block. When the backlog exceeds what the devices accept or the write
 * rate limit allows, insertions are refused by source, in this order.
 */
@InterfaceAudience.Private
public enum InsertSource {
  /** A block that was read after a cache miss. */
  READ,
  /** A block that was read by a prefetch. */
  PREFETCH,
  /** A block of a file that is being written (cache-on-write). */
  WRITE
}
