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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An open region in the row cache. The same region has another number each time that it is opened,
 * so that rows of before are never found again. Thread-safe.
 */
@InterfaceAudience.Private
public final class CachedRegion {
  private final RowVersions versions;
  private final AtomicInteger rows = new AtomicInteger();
  private final int number;

  /** @param base no write has a number below that */
  CachedRegion(int number, long base) {
    this(number, new RowVersions(base));
  }

  CachedRegion(int number, RowVersions versions) {
    this.number = number;
    this.versions = versions;
  }

  int number() {
    return number;
  }

  /** Returns the numbers of the last writes to the region's rows. */
  public RowVersions versions() {
    return versions;
  }

  void addRows(int difference) {
    rows.addAndGet(difference);
  }

  /** Has more rows be registered at the same time if there are many. Copies all of them. */
  void growVersions() {
    versions.growFor(rows.get());
  }
}
