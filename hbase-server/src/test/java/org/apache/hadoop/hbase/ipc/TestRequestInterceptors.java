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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ipc.RequestInterceptor.Outcome;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/** Proves which interceptor gets a request, and what reaches the scheduler. */
@Category({ RPCTests.class, SmallTests.class })
public class TestRequestInterceptors {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRequestInterceptors.class);

  private final RequestInterceptors interceptors = new RequestInterceptors();
  private final RpcScheduler scheduler = mock(RpcScheduler.class);
  private final RpcServer server = mock(RpcServer.class);
  private final ServerCall<?> call = mock(ServerCall.class);
  private final List<String> seen = new ArrayList<>();

  @Before
  public void setUp() {
    when(server.getScheduler()).thenReturn(scheduler);
  }

  private RequestInterceptor interceptor(String name, Outcome outcome) {
    return (rpcServer, rpcCall) -> {
      assertSame(call, rpcCall);
      seen.add(name);
      return outcome;
    };
  }

  @Test
  public void testCallIsDispatchedAsUsualIfNoInterceptorTakesIt() {
    when(scheduler.dispatch(any())).thenReturn(true);
    assertTrue(interceptors.dispatch(server, call));
    interceptors.add(interceptor("a", Outcome.NOT_TAKEN));
    interceptors.add(interceptor("b", Outcome.NOT_TAKEN));
    when(scheduler.dispatch(any())).thenReturn(false);
    assertFalse("a full queue", interceptors.dispatch(server, call));
    assertEquals(Arrays.asList("a", "b"), seen);
  }

  @Test
  public void testFirstInterceptorThatTakesACallDecides() {
    interceptors.add(interceptor("a", Outcome.NOT_TAKEN));
    interceptors.add(interceptor("b", Outcome.ACCEPTED));
    interceptors.add(interceptor("c", Outcome.REFUSED));
    assertTrue(interceptors.dispatch(server, call));
    assertEquals(Arrays.asList("a", "b"), seen);
    verify(scheduler, never()).dispatch(any());
  }

  @Test
  public void testRefusedCallIsNotDispatched() {
    interceptors.add(interceptor("a", Outcome.REFUSED));
    assertFalse(interceptors.dispatch(server, call));
    verify(scheduler, never()).dispatch(any());
  }

  @Test
  public void testCellsPassThroughAllInterceptors() throws IOException {
    CellScanner first = mock(CellScanner.class);
    CellScanner second = mock(CellScanner.class);
    Message param = mock(Message.class);
    interceptors.add(interceptor("leaves them as they are", Outcome.NOT_TAKEN));
    interceptors.add(new RequestInterceptor() {
      @Override
      public CellScanner cells(Message request, CellScanner cells) {
        assertSame(param, request);
        assertSame(first, cells);
        return second;
      }

      @Override
      public Outcome dispatch(RpcServerInterface rpcServer, RpcCall rpcCall) {
        return Outcome.NOT_TAKEN;
      }
    });
    assertSame(second, interceptors.cells(param, first));
    assertNull(interceptors.cells(param, null));
  }
}
