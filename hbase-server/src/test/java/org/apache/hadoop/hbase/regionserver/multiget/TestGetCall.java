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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertTrue;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestGetCall {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestGetCall.class);

  /** What a get counts by itself, and what is not for it to do. */
  private static final Set<String> OWN = new HashSet<>(Arrays.asList("getResponseCellSize",
    "incrementResponseCellSize", "getBlockBytesScanned", "incrementBlockBytesScanned",
    "getResponseExceptionSize", "incrementResponseExceptionSize", "setStartTime", "setResponse",
    "sendResponseIfReady", "cleanup"));

  private final RpcCall call = Mockito.mock(RpcCall.class);
  private final GetCall get = new GetCall(call);

  private static Object argument(Class<?> type) {
    return type == String.class ? "any" : Mockito.mock(type.asSubclass(RpcCallback.class));
  }

  /** Methods that upstream adds with a default are among them. */
  @Test
  public void testWhatIsAskedOfItIsAskedOfTheMulti() throws Exception {
    int asked = 0;
    for (Method method : RpcCall.class.getMethods()) {
      if (OWN.contains(method.getName()) || Modifier.isStatic(method.getModifiers())) {
        continue;
      }
      Object[] arguments =
        Arrays.stream(method.getParameterTypes()).map(TestGetCall::argument).toArray();
      method.invoke(get, arguments);
      method.invoke(Mockito.verify(call), arguments);
      Mockito.verifyNoMoreInteractions(call);
      Mockito.clearInvocations(call);
      asked++;
    }
    assertTrue("asked " + asked, asked >= 20);
  }
}
