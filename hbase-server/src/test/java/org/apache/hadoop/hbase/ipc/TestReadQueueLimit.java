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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/** The configured length of call queues holds for those of writes, reads and scans. */
@Category({ RPCTests.class, SmallTests.class })
public class TestReadQueueLimit {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReadQueueLimit.class);

  private static final int LIMIT = 5;

  private final Configuration conf = HBaseConfiguration.create();

  @Test
  public void testLimitOfWriteReadAndScanQueues() {
    conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.7f);
    conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_SCAN_SHARE_CONF_KEY, 0.5f);
    conf.setFloat(RpcExecutor.CALL_QUEUE_HANDLER_FACTOR_CONF_KEY, 0.1f);
    RpcExecutor executor = new RWQueueRpcExecutor("rw", 30, LIMIT, null, conf, null);
    assertEquals("queues", 3, executor.getQueues().size());
    checkAcceptsLimit(executor, ClientProtos.MutateRequest.getDefaultInstance());
    checkAcceptsLimit(executor, ClientProtos.GetRequest.getDefaultInstance());
    checkAcceptsLimit(executor, ClientProtos.ScanRequest.getDefaultInstance());
    conf.setInt(RpcScheduler.IPC_SERVER_MAX_CALLQUEUE_LENGTH, LIMIT + 1);
    executor.resizeQueues(conf);
    assertTrue(executor.dispatch(call(ClientProtos.GetRequest.getDefaultInstance())));
    assertFalse(executor.dispatch(call(ClientProtos.GetRequest.getDefaultInstance())));
  }

  private static void checkAcceptsLimit(RpcExecutor executor, Message request) {
    for (int i = 0; i < LIMIT; i++) {
      assertTrue(executor.dispatch(call(request)));
    }
    assertFalse(request.getClass() + " beyond the limit", executor.dispatch(call(request)));
  }

  private static CallRunner call(Message request) {
    RpcCall call = mock(RpcCall.class);
    when(call.getHeader()).thenReturn(RequestHeader.getDefaultInstance());
    when(call.getParam()).thenReturn(request);
    when(call.getReceiveTime()).thenReturn(EnvironmentEdgeManager.currentTime());
    CallRunner runner = mock(CallRunner.class);
    when(runner.getRpcCall()).thenReturn(call);
    return runner;
  }
}
