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
package org.apache.hadoop.hbase.ipc;

import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/**
 * The threshold from which on a CoDel queue takes the newest call first is a part of the length at
 * which calls are refused, not of the capacity, which is larger.
 */
@Category({ RPCTests.class, SmallTests.class })
public class TestCodelQueueLimit {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCodelQueueLimit.class);

  private final Configuration conf = HBaseConfiguration.create();

  @Test
  public void testNewestCallIsTakenFirstNearTheLimit() throws InterruptedException {
    RpcExecutor executor = codelExecutor(10);
    List<CallRunner> calls = fill(executor, 9);
    assertSame("more than 0.8 of the limit", calls.get(8), executor.getQueues().get(0).take());
    assertSame("0.8 of the limit", calls.get(0), executor.getQueues().get(0).take());
  }

  @Test
  public void testNearTheLimitThatWasChanged() throws InterruptedException {
    RpcExecutor executor = codelExecutor(10);
    List<CallRunner> calls = fill(executor, 9);
    conf.setInt(RpcScheduler.IPC_SERVER_MAX_CALLQUEUE_LENGTH, 20);
    executor.resizeQueues(conf);
    assertSame(calls.get(0), executor.getQueues().get(0).take());
    conf.setInt(RpcScheduler.IPC_SERVER_MAX_CALLQUEUE_LENGTH, 9);
    executor.resizeQueues(conf);
    assertSame(calls.get(8), executor.getQueues().get(0).poll());
    assertSame(calls.get(1), executor.getQueues().get(0).poll());
  }

  private RpcExecutor codelExecutor(int limit) {
    conf.set(RpcExecutor.CALL_QUEUE_TYPE_CONF_KEY, RpcExecutor.CALL_QUEUE_TYPE_CODEL_CONF_VALUE);
    return new BalancedQueueRpcExecutor("codel", 1, limit, null, conf, null);
  }

  private static List<CallRunner> fill(RpcExecutor executor, int length) {
    List<CallRunner> calls = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      calls.add(call());
      assertTrue(executor.dispatch(calls.get(i)));
    }
    return calls;
  }

  private static CallRunner call() {
    RpcCall call = mock(RpcCall.class);
    when(call.getHeader()).thenReturn(RequestHeader.getDefaultInstance());
    when(call.getParam()).thenReturn(ClientProtos.GetRequest.getDefaultInstance());
    when(call.getReceiveTime()).thenReturn(EnvironmentEdgeManager.currentTime());
    CallRunner runner = mock(CallRunner.class);
    when(runner.getRpcCall()).thenReturn(call);
    return runner;
  }
}
