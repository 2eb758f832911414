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
package org.apache.hadoop.hbase.regionserver.read;

import org.apache.yetus.audience.InterfaceAudience;

/** Why a get is served with scanners. */
@InterfaceAudience.Private
public enum ScanReason {
  /** A coprocessor of the region may change what a scanner of a store returns. */
  COPROCESSOR,
  /** The get has a filter, its own or that of a coprocessor for labels or permissions. */
  FILTER,
  /** The get limits or skips cells of a family, or repeats an operation with a nonce. */
  OPTION,
  /**
   * A family has mob files, minimum versions or the new version behavior, or the region, a store or
   * a memstore is not of one of HBase's own classes.
   */
  FAMILY
}
