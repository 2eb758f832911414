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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Tells a cache which files the regions of its server read, so that it can drop blocks of files
 * that none reads, and which are hot by the tables' data tiering. Thread-safe.
 */
@InterfaceAudience.Private
public interface OnlineFiles {

  /** The files that regions read which are online at one moment. Immutable. */
  interface Snapshot {
    /**
     * Returns whether a region is online whose files are in the directory of this encoded name.
     * @param region may be null
     */
    boolean isOnline(String region);

    /**
     * Returns whether a region may read blocks that are cached under this name.
     * @param region encoded name of the region whose directory the file is in, null if unknown
     */
    boolean isRead(String fileName, String region);
  }

  /** Returns the encoded names of the regions that are online now. */
  Set<String> regions();

  /** Looks at each region once; one that opens or closes meanwhile may be missed. */
  Snapshot look();

  /** Returns whether data tiering, if the file's column family has it, has the file cached. */
  boolean isHot(HFileInfo file, Configuration conf);

  /**
   * Returns whether data tiering, if the column family has it, has a block of a file being written
   * cached.
   * @param maxTimestamp the latest of the file, in milliseconds
   * @param conf of the store
   */
  boolean isHot(long maxTimestamp, Configuration conf);
}
