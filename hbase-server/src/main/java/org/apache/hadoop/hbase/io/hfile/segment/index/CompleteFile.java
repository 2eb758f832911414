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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * A file all of whose blocks were stored at some time. It is recorded in the segment that was open
 * then, so that the next process can restore it. The record is only a claim: a reader must verify
 * the number of data blocks. Immutable.
 */
@InterfaceAudience.Private
public final class CompleteFile {
  private final String name;
  private final int dataBlocks;
  private final long size;

  /**
   * @param dataBlocks the number of data blocks of the file
   * @param size       the total size of its blocks in bytes, as reported when the file was complete
   */
  public CompleteFile(String name, int dataBlocks, long size) {
    this.name = name;
    this.dataBlocks = dataBlocks;
    this.size = size;
  }

  public String name() {
    return name;
  }

  public int dataBlocks() {
    return dataBlocks;
  }

  public long size() {
    return size;
  }
}
