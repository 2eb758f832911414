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
 * Which blocks are stored, and where. {@link SegmentIndex} is the off-heap map from a block to its
 * location, {@link CachedFiles} has the files by name and number, and {@link IndexedBlocks} keeps
 * both in step. The store calls it as a {@link SegmentDirectory}; the index does not know the
 * store.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.io.hfile.segment.index;

import org.apache.yetus.audience.InterfaceAudience;
