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

/**
 * Decides whether to try to read a row without waiting: a success saves the wakeup of a handler, a
 * failure costs the part of the row that was read, on a thread that serves others too. Where less
 * than half of the recent tries succeeded, one in 16 is made, to notice when that changes. May be
 * used by several threads; an update that is lost to another does not matter.
 */
@InterfaceAudience.Private
public final class PreparationChance {
  private static final int ALL = 1 << 12;
  private static final int WORTH_IT = ALL / 2;
  /** A try weighs as much as one in this power of two of the recent ones. */
  private static final int WEIGHT_BITS = 5;
  private static final int RARELY = 16;

  private volatile int successes = ALL;
  private int skipped;

  public boolean isWorthATry() {
    return successes >= WORTH_IT || ++skipped % RARELY == 0;
  }

  public void tried(boolean success) {
    int recent = successes;
    successes = recent + ((success ? ALL - recent : -recent) >> WEIGHT_BITS);
  }
}
