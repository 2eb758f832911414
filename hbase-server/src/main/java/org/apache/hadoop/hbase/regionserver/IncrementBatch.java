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

import java.io.IOException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of different rows that are written as one edit, all or none of them. The thread holds
 * the exclusive locks of the rows, and coprocessors were called for the increments before. Not in
 * {@code regionserver.write}, since the method of {@link HRegion} that writes such a batch is
 * package-private.
 */
@InterfaceAudience.Private
public final class IncrementBatch extends GroupBatchOperation {
  private boolean entered;
  private boolean counted;

  public IncrementBatch(HRegion region, Increment[] increments) {
    super(region, increments, true);
  }

  @Override
  public void startRegionOperation() throws IOException {
    super.startRegionOperation();
    entered = true;
  }

  @Override
  public void checkAndPrepare() throws IOException {
    counted = true;
    super.checkAndPrepare();
  }

  /**
   * Writes the increments.
   * @return the result of each, in their order
   * @throws IOException if none was written, or all may have been
   */
  public Result[] write() throws IOException {
    OperationStatus[] statuses = region.batchMutate(this);
    Result[] results = new Result[statuses.length];
    for (int i = 0; i < results.length; i++) {
      results[i] = statuses[i].getResult();
    }
    return results;
  }

  /** Takes back what the region has counted for increments of which none was written. */
  public void uncount() {
    if (counted) {
      region.addWriteRequestsCount(-size());
    }
    RegionServerServices services = region.getRegionServerServices();
    if (entered && services != null && services.getMetrics() != null) {
      services.getMetrics().updateWriteQueryMeter(region, -size());
    }
  }
}
