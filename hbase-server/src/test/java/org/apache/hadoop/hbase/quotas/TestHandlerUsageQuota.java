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

import static org.junit.Assert.assertEquals;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A request is charged the time for which it occupied a handler, whatever was estimated before. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestHandlerUsageQuota {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHandlerUsageQuota.class);

  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private final AtomicLong charged = new AtomicLong();
  private final QuotaLimiter limiter = mock(QuotaLimiter.class);

  @Before
  public void setUp() {
    EnvironmentEdgeManager.injectEdge(clock);
    clock.setValue(1_000_000);
    RpcCall call = mock(RpcCall.class);
    when(call.getStartTime()).thenReturn(clock.currentTime());
    RpcServer.setCurrentCall(call);
    when(limiter.getReadAvailable()).thenReturn(Long.MAX_VALUE);
    doAnswer(grab -> charged.addAndGet(grab.getArgument(7))).when(limiter).grabQuota(anyLong(),
      anyLong(), anyLong(), anyLong(), anyLong(), anyLong(), anyBoolean(), anyLong());
    doAnswer(consume -> charged.addAndGet(consume.getArgument(0))).when(limiter)
      .consumeTime(anyLong());
  }

  @After
  public void tearDown() {
    RpcServer.setCurrentCall(null);
    EnvironmentEdgeManager.reset();
  }

  @Test
  public void testRequestOfASecond() throws Exception {
    assertEquals(1000, chargedFor(1000));
  }

  @Test
  public void testRequestShorterThanTheEstimate() throws Exception {
    assertEquals(1, chargedFor(1));
  }

  @Test
  public void testRequestAsLongAsTheEstimate() throws Exception {
    // The estimate is the number of handlers if there are few requests.
    assertEquals(30, chargedFor(30));
  }

  private long chargedFor(long millis) throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, 30);
    DefaultOperationQuota quota = new DefaultOperationQuota(conf, 64 * 1024, 1.0, limiter);
    quota.checkBatchQuota(0, 1, false);
    assertEquals("the estimate", 30, charged.get());
    clock.incValue(millis);
    quota.close();
    return charged.get();
  }
}
