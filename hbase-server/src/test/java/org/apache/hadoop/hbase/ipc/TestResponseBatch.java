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

import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.io.netty.channel.Channel;
import org.apache.hbase.thirdparty.io.netty.channel.embedded.EmbeddedChannel;

@Category({ RPCTests.class, SmallTests.class })
public class TestResponseBatch {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestResponseBatch.class);

  private final EmbeddedChannel one = new EmbeddedChannel();
  private final EmbeddedChannel other = new EmbeddedChannel();
  private final RpcResponse first = Mockito.mock(RpcResponse.class);
  private final RpcResponse second = Mockito.mock(RpcResponse.class);
  private final RpcResponse third = Mockito.mock(RpcResponse.class);

  @After
  public void tearDown() {
    one.finishAndReleaseAll();
    other.finishAndReleaseAll();
  }

  @Test
  public void testWithoutBatchAResponseLeavesAtOnce() {
    ResponseBatch.send(one, first);
    assertSame(first, one.readOutbound());
  }

  @Test
  public void testResponsesLeaveTogetherWhenTheBatchIsClosed() {
    try (ResponseBatch batch = ResponseBatch.begin()) {
      ResponseBatch.send(one, first);
      ResponseBatch.send(other, second);
      ResponseBatch.send(one, third);
      assertNull(one.readOutbound());
      assertNull(other.readOutbound());
    }
    assertSame(first, one.readOutbound());
    assertSame(third, one.readOutbound());
    assertSame(second, other.readOutbound());
    ResponseBatch.send(other, first);
    assertSame("after the batch", first, other.readOutbound());
  }

  @Test
  public void testResponsesThatAreReadyLeaveWhenTheBatchIsFlushed() {
    try (ResponseBatch batch = ResponseBatch.begin()) {
      ResponseBatch.send(one, first);
      batch.flush();
      assertSame(first, one.readOutbound());
      ResponseBatch.send(one, second);
      assertNull(one.readOutbound());
    }
    assertSame(second, one.readOutbound());
  }

  @Test
  public void testConnectionThatFailsDoesNotKeepTheOthersResponses() {
    Channel failing = Mockito.mock(Channel.class, Mockito.RETURNS_MOCKS);
    Mockito.when(failing.flush()).thenThrow(new IllegalStateException("closed"));
    try (ResponseBatch batch = ResponseBatch.begin()) {
      ResponseBatch.send(failing, first);
      ResponseBatch.send(one, second);
    }
    assertSame(second, one.readOutbound());
  }

  @Test
  public void testBatchWithinABatchLeavesFirst() {
    try (ResponseBatch outer = ResponseBatch.begin()) {
      ResponseBatch.send(one, first);
      try (ResponseBatch inner = ResponseBatch.begin()) {
        ResponseBatch.send(other, second);
      }
      assertSame(second, other.readOutbound());
      assertNull(one.readOutbound());
      ResponseBatch.send(one, third);
    }
    assertSame(first, one.readOutbound());
    assertSame(third, one.readOutbound());
  }

  @Test
  public void testBatchOfOneThreadIsNotAnothers() throws Exception {
    try (ResponseBatch batch = ResponseBatch.begin()) {
      Thread thread = new Thread(() -> ResponseBatch.send(one, first));
      thread.start();
      thread.join();
      assertSame(first, one.readOutbound());
    }
  }
}
