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
 * Stores blocks in segments on devices: {@link SegmentStore} assembles the parts and lists them,
 * and {@link SegmentFooter} is the table of contents of a segment. Larger than other packages,
 * because its classes share one lock and the state that it guards; the lock order is documented in
 * {@link StoreMonitor}. Other packages use {@link SegmentStore}, its settings, metrics and gauges,
 * and {@link DroppedFiles}; the rest is package-private.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.io.hfile.segment.store;

import org.apache.yetus.audience.InterfaceAudience;
