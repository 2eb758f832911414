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
 * Groups of concurrent writes that share WAL appends and a sync, and wait without a handler.
 * {@link Commits} is the entry class. {@link MutationGroups} groups puts and deletes.
 * {@link IncrementGroup} merges increments of a row before the append, and appends those of several
 * rows together. Members of the base that are package-private are accessed by
 * {@code GroupBatchOperation}, {@code IncrementBatch} and {@code RegionLocks}.
 * <p>
 * Classes are thread-safe unless their Javadoc says otherwise. Features: write-groups and
 * counter-coalescing; guides: {@code docs/write-groups.md}, {@code docs/counter-coalescing.md}.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.regionserver.write;

import org.apache.yetus.audience.InterfaceAudience;
