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

import static org.apache.hadoop.hbase.ipc.TestProtobufRpcServiceImpl.SERVICE;
import static org.apache.hadoop.hbase.ipc.TestProtobufRpcServiceImpl.newBlockingStub;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collections;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.ServiceException;

import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EchoRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.PauseRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestRpcServiceProtos.TestProtobufRpcProto.BlockingInterface;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;

/** What HBase asks of a Netty client, with requests and responses that are sent together. */
@Category({ RPCTests.class, MediumTests.class })
public class TestFlushConsolidationIPC extends TestNettyIPC {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushConsolidationIPC.class);

  @BeforeClass
  public static void enable() {
    CONF.setBoolean(RequestConsolidation.ENABLED_KEY, true);
    CONF.setBoolean(FlushConsolidationSettings.ENABLED_KEY, true);
  }

  @AfterClass
  public static void disable() {
    CONF.unset(RequestConsolidation.ENABLED_KEY);
    CONF.unset(FlushConsolidationSettings.ENABLED_KEY);
  }

  /** The base's fails where a machine is busy for a second: it measures how long calls wait. */
  @Test
  @Override
  public void testTimeout() throws IOException {
    int calls = 3;
    RpcServer server = createRpcServer(null, "testTimeout",
      Collections.singletonList(new RpcServer.BlockingServiceAndInterface(SERVICE, null)),
      new InetSocketAddress("localhost", 0), CONF, new FifoRpcScheduler(CONF, calls + 1));
    try (AbstractRpcClient<?> client = createRpcClient(CONF)) {
      server.start();
      BlockingInterface stub = newBlockingStub(client, server.getListenerAddress());
      assertEcho(stub);
      HBaseRpcController controller = new HBaseRpcControllerImpl();
      for (int i = 0; i < calls; i++) {
        controller.reset();
        controller.setCallTimeout(100);
        ServiceException e = assertThrows(ServiceException.class,
          () -> stub.pause(controller, PauseRequestProto.newBuilder().setMs(10_000).build()));
        Throwable cause = ProtobufUtil.handleRemoteException(e).getCause();
        assertTrue("" + cause, cause instanceof CallTimeoutException);
      }
      assertEcho(stub);
    } finally {
      server.stop();
    }
  }

  private static void assertEcho(BlockingInterface stub) throws IOException {
    try {
      assertEquals("hello", stub
        .echo(null, EchoRequestProto.newBuilder().setMessage("hello").build()).getMessage());
    } catch (ServiceException e) {
      throw ProtobufUtil.handleRemoteException(e);
    }
  }
}
