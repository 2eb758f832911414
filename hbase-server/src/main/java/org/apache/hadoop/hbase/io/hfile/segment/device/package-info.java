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
 * What is on a device of the segment tier beside the segments, and how it is accessed:
 * {@link SegmentDevice} is a file or block device, {@link Superblock} its header,
 * {@link TombstoneLog} its record of dropped files, {@link EntryTrailer} the end of an entry, and
 * {@link Location} the place of an entry on all devices. Knows neither the index nor the store.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.io.hfile.segment.device;

import org.apache.yetus.audience.InterfaceAudience;
