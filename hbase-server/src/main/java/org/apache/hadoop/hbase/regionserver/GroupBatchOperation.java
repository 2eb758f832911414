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
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A batch of mutations of several calls. Differs from a batch of one call in that coprocessors were
 * called before, for each mutation in its own call. Not in {@code regionserver.write}, since the
 * class of the base that it extends is package-private.
 */
@InterfaceAudience.Private
public class GroupBatchOperation extends HRegion.MutationBatchOperation {

  /** A batch of puts and deletes, each of which has its own status. */
  GroupBatchOperation(HRegion region, Mutation[] mutations) {
    this(region, mutations, false);
  }

  /** @param atomic whether all are written or none */
  GroupBatchOperation(HRegion region, Mutation[] mutations, boolean atomic) {
    super(region, mutations, atomic, HConstants.NO_NONCE, HConstants.NO_NONCE);
  }

  /** Appends, syncs and inserts puts and deletes of several calls to a region. */
  public static OperationStatus[] write(HRegion region, Mutation[] mutations) throws IOException {
    return region.batchMutate(new GroupBatchOperation(region, mutations));
  }

  @Override
  public void checkAndPrepare() throws IOException {
    long now = EnvironmentEdgeManager.currentTime();
    for (int i = 0; i < size(); i++) {
      checkAndPrepareMutation(i, now);
    }
  }
}
