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
package org.apache.hadoop.hbase.regionserver.writegroup;

import org.apache.yetus.audience.InterfaceAudience;

/** What {@link WriteGroups} counts. Implementations must be thread-safe. */
@InterfaceAudience.Private
public interface GroupMetrics {

  /**
   * Counts a group that was applied.
   * @param withoutHandler how many members waited without a handler
   */
  void group(int size, int withoutHandler);

  /** Counts a write with no other one to be grouped with. */
  void single();

  /** Counts a write whose nonce had been used. */
  void repeated();

  /** Counts a write that waited for a group and was then applied alone. */
  void alone();

  /** Counts a group that failed before its edit was appended. */
  void failedGroup();

  /** Counts a call that had waited and that the scheduler does not accept. */
  void refused();
}
