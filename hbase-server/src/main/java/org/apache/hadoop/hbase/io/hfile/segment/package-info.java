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
 * A cache tier on devices for hundreds of millions of blocks, which are written in large segments.
 * {@link SegmentCache} is the tier; {@link SegmentTierEngine} opens it where it is configured.
 * Feature: segment-cache; guide: {@code docs/segment-cache.md}.
 * <p>
 * Its parts are packages: {@code device} has what is on a device, {@code index} which blocks are
 * stored, {@code store} the segments and their threads, and {@code recovery} what remains between
 * two processes. Each uses only those named before it. Classes are thread-safe unless their Javadoc
 * says otherwise; the lock order is documented in {@code store.StoreMonitor}.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.io.hfile.segment;

import org.apache.yetus.audience.InterfaceAudience;
