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
package org.apache.hadoop.hbase.quotas;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.security.User;

/** Adds up what the requests of a user are charged, and lets them all pass. */
public final class ChargedQuota implements QuotaLimiter {

  private final Map<String, Long> charges = new TreeMap<>();
  private volatile long available = Long.MAX_VALUE;

  /** Has a server that has quotas charge a user here. It does not read its quotas anew any more. */
  public static ChargedQuota of(User user, RegionServerRpcQuotaManager server) {
    ChargedQuota quota = new ChargedQuota();
    QuotaCache cache = server.getQuotaCache();
    // A reading that is due, as after a change of the configuration, would undo what is done here.
    cache.stop("A test has its own");
    // Waits for one that is going on, and has them read for the first time, if they have not been.
    cache.forceSynchronousCacheRefresh();
    cache.getUserQuotaState(user.getUGI());
    cache.getUserQuotaCache().put(user.getShortName(), new UserQuotaState() {
      @Override
      public synchronized QuotaLimiter getTableLimiter(TableName table) {
        return quota;
      }
    });
    return quota;
  }

  /** Has each request find so many bytes left for it to read. */
  public void setAvailable(long bytes) {
    available = bytes;
  }

  /** Returns what has been charged, by what it is; but for time. */
  public synchronized Map<String, Long> charges() {
    return new TreeMap<>(charges);
  }

  private synchronized void charge(String what, boolean isAtomic, long amount) {
    charges.merge(isAtomic ? "atomic " + what : what, amount, Long::sum);
  }

  @Override
  public void checkQuota(long writeReqs, long estimateWriteSize, long readReqs,
    long estimateReadSize, long estimateWriteCapacityUnit, long estimateReadCapacityUnit,
    boolean isAtomic, long estimateHandlerThreadUsageMs) {
  }

  @Override
  public void grabQuota(long writeReqs, long writeSize, long readReqs, long readSize,
    long writeCapacityUnit, long readCapacityUnit, boolean isAtomic,
    long estimateHandlerThreadUsageMs) {
    charge("writes", isAtomic, writeReqs);
    charge("reads", isAtomic, readReqs);
    consumeWrite(writeSize, writeCapacityUnit, isAtomic);
    consumeRead(readSize, readCapacityUnit, isAtomic);
  }

  @Override
  public void consumeWrite(long size, long capacityUnit, boolean isAtomic) {
    charge("bytes written", isAtomic, size);
    charge("units written", isAtomic, capacityUnit);
  }

  @Override
  public void consumeRead(long size, long capacityUnit, boolean isAtomic) {
    charge("bytes read", isAtomic, size);
    charge("units read", isAtomic, capacityUnit);
  }

  @Override
  public void consumeTime(long handlerMillisUsed) {
  }

  @Override
  public boolean isBypass() {
    return false;
  }

  @Override
  public long getReadAvailable() {
    return available;
  }

  @Override
  public long getReadLimit() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getWriteLimit() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getWriteAvailable() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getRequestNumLimit() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getReadNumLimit() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getWriteNumLimit() {
    return Long.MAX_VALUE;
  }
}
