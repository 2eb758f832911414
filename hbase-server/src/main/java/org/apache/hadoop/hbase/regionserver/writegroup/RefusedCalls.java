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

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * Calls that were accepted, have waited without a handler, and find the call queue full when they
 * are dispatched. Each is dispatched again every 10 ms, until the scheduler accepts it or it has
 * waited for the maximum time; then it is dropped, and its leadership is passed on. One thread,
 * which ends after 10 s without such a call. Thread-safe.
 */
@InterfaceAudience.Private
final class RefusedCalls {

  private static final int PERIOD_MS = 10;
  private static final int IDLE_SECONDS = 10;

  private static final Logger LOG = LoggerFactory.getLogger(RefusedCalls.class);

  private final ScheduledThreadPoolExecutor thread = new ScheduledThreadPoolExecutor(1,
    new ThreadFactoryBuilder().setNameFormat("RefusedCalls-%d").setDaemon(true).build());

  RefusedCalls() {
    thread.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    thread.allowCoreThreadTimeOut(true);
  }

  /** @param limitMs maximum time to wait from now on, in milliseconds */
  void add(WriteCall call, long limitMs) {
    again(call, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs));
  }

  private void again(WriteCall call, long deadline) {
    boolean scheduled = false;
    try {
      thread.schedule(() -> attempt(call, deadline), PERIOD_MS, TimeUnit.MILLISECONDS);
      scheduled = true;
    } finally {
      if (!scheduled) {
        call.drop();
      }
    }
  }

  private void attempt(WriteCall call, long deadline) {
    boolean taken = false;
    boolean again = false;
    try {
      taken = call.dispatch();
      again = !taken;
    } catch (RuntimeException e) {
      LOG.warn("Cannot dispatch a call", e);
      again = true;
    } finally {
      again = again && System.nanoTime() - deadline < 0;
      if (!taken && !again) {
        call.drop();
      }
    }
    if (again) {
      again(call, deadline);
    }
  }
}
