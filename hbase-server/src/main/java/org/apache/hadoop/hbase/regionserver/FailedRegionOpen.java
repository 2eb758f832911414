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
package org.apache.hadoop.hbase.regionserver;

import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

/**
 * The stores of a region that were opened while another one of them could not be. Nobody has asked
 * for them yet, and each holds the readers of its files.
 */
@InterfaceAudience.Private
final class FailedRegionOpen {
  private static final Logger LOG = LoggerFactory.getLogger(FailedRegionOpen.class);

  /** How long those that are just being opened may take to notice that they need not be. */
  private static final long WAIT_SECONDS = 60;

  private FailedRegionOpen() {
  }

  /**
   * Waits until no store is being opened any more, and hands over those that were. An interruption
   * is put off.
   * @param openers what opens stores; has been told to stop
   * @param opened  what holds those that were opened
   * @param taker   is given each of them, by the calling thread
   */
  static void take(ExecutorService openers, CompletionService<HStore> opened,
    Consumer<HStore> taker) {
    if (
      !Uninterruptibles.awaitTerminationUninterruptibly(openers, WAIT_SECONDS, TimeUnit.SECONDS)
    ) {
      LOG.warn("A store is still being opened {} s after its region has failed to open; the readers"
        + " of its files will stay open", WAIT_SECONDS);
    }
    for (Future<HStore> next = opened.poll(); next != null; next = opened.poll()) {
      try {
        // Waits without a limit: what a completion service hands out is complete.
        taker.accept(Uninterruptibles.getUninterruptibly(next));
      } catch (ExecutionException e) {
        LOG.debug("Another store could not be opened either", e.getCause());
      }
    }
  }
}
