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
 * Reads of one row without scanners. {@link PointGets} is the entry class; {@link RowReader} merges
 * the sources of a row and selects its cells. Members of the base that are package-private are
 * accessed by {@code RegionAccess}.
 * <p>
 * Classes are used by one thread unless their Javadoc says otherwise. Feature: point-get; guide:
 * {@code docs/point-get.md}.
 */
@InterfaceAudience.Private
package org.apache.hadoop.hbase.regionserver.read;

import org.apache.yetus.audience.InterfaceAudience;
