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
/**
 * What loads blocks into a cache besides the reads of clients.
 * <ul>
 * <li>Prefetch reads the blocks of a file that are not cached: {@link FilePrefetch} is one file's,
 * {@link PrefetchScheduler} decides on the order and the rate. Feature: prefetch-dedup
 * (HBASE-23355).
 * <li>Hand-over caches the blocks that a compaction, flush, move or bulk load makes of hot ones:
 * {@link HotBlockHandover} is one compaction's, {@link BlockIndexCursor} finds the blocks of its
 * inputs that cover a range of keys. Feature: cache-handover.
 * <li>{@link BatchReadCoalescer} has gets of a batch that need one block of a cache's file read it
 * once. Feature: parallel-multiget (HBASE-23063).
 * </ul>
 * Guides: {@code docs/prefetch-dedup.md}, {@code docs/cache-handover.md},
 * {@code docs/parallel-multiget.md}. Classes are thread-safe unless their Javadoc says otherwise.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.io.hfile.load;

import org.apache.yetus.audience.InterfaceAudience;
