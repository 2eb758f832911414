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
 * Hands over the stores of a region that were opened while another one failed, so that they can be
 * closed. They have no owner yet, and each holds the readers of its files. In this package, since
 * it is to go upstream with the base's class that calls it.
 */
@InterfaceAudience.Private
final class FailedRegionOpen {
  private static final Logger LOG = LoggerFactory.getLogger(FailedRegionOpen.class);

  /** Maximum time to wait for stores that are being opened, in seconds. */
  private static final long WAIT_SECONDS = 60;

  private FailedRegionOpen() {
  }

  /**
   * Waits until no store is being opened any more, and hands over the opened ones. An interrupt is
   * deferred.
   * @param openers opens the stores; was shut down by the caller
   * @param opened  has the opened stores
   * @param taker   receives each of them, in the calling thread
   */
  static void take(ExecutorService openers, CompletionService<HStore> opened,
    Consumer<HStore> taker) {
    if (
      !Uninterruptibles.awaitTerminationUninterruptibly(openers, WAIT_SECONDS, TimeUnit.SECONDS)
    ) {
      LOG.warn("A store is still being opened {} s after its region failed to open; the readers"
        + " of its files will stay open", WAIT_SECONDS);
    }
    for (Future<HStore> next = opened.poll(); next != null; next = opened.poll()) {
      try {
        // Waits without a limit: a future returned by a completion service is complete.
        taker.accept(Uninterruptibles.getUninterruptibly(next));
      } catch (ExecutionException e) {
        LOG.debug("Another store failed to open, too", e.getCause());
      }
    }
  }
}
