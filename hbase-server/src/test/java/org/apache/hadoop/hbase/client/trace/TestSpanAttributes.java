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
package org.apache.hadoop.hbase.client.trace;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.io.AllocatedBytes;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.server.trace.IpcServerSpanBuilder;
import org.apache.hadoop.hbase.testclassification.ClientTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.trace.HBaseSemanticAttributes;
import org.apache.hadoop.hbase.trace.InstalledTracer;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ClientService;

/** Tests that the attributes of a span are collected for a tracer, and for none only. */
@Category({ ClientTests.class, SmallTests.class })
public class TestSpanAttributes {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSpanAttributes.class);

  private static final TableName TABLE = TableName.valueOf("table");
  private static final int ROWS = 50;
  private static final int SPANS = 2000;

  private final InMemorySpanExporter exported = InMemorySpanExporter.create();
  private final ClusterConnection connection = mock(ClusterConnection.class, RETURNS_DEEP_STUBS);

  /** Where spans end, so that none is left out by the compiler. */
  private volatile Span last;

  @Before
  public void forgetTracer() {
    GlobalOpenTelemetry.resetForTest();
    when(connection.getConnectionRegistry().getConnectionString()).thenReturn("registry");
  }

  @After
  public void leaveNoTracer() {
    GlobalOpenTelemetry.resetForTest();
  }

  private void installTracer() {
    OpenTelemetrySdk.builder().setTracerProvider(SdkTracerProvider.builder()
      .addSpanProcessor(SimpleSpanProcessor.create(exported)).build()).buildAndRegisterGlobal();
  }

  @Test
  public void testTracerIsSeenWhenItIsInstalled() {
    assertTrue(InstalledTracer.isAbsent());
    GlobalOpenTelemetry.resetForTest();
    installTracer();
    assertFalse(InstalledTracer.isAbsent());
  }

  @Test
  public void testTracerIsToldAllOfATableOperation() {
    installTracer();
    List<Row> rows = Arrays.asList(new Get(Bytes.toBytes("a")), new Put(Bytes.toBytes("b")));
    new TableOperationSpanBuilder(connection).setTableName(TABLE).setOperation(rows)
      .setContainerOperations(rows).build().end();
    Attributes attributes = exported();
    assertEquals("table", attributes.get(HBaseSemanticAttributes.TABLE_KEY));
    assertEquals("default", attributes.get(HBaseSemanticAttributes.DB_NAME));
    assertEquals("registry", attributes.get(HBaseSemanticAttributes.DB_CONNECTION_STRING));
    assertEquals(HBaseSemanticAttributes.DB_SYSTEM_VALUE,
      attributes.get(HBaseSemanticAttributes.DB_SYSTEM));
    assertEquals("BATCH", attributes.get(HBaseSemanticAttributes.DB_OPERATION));
    assertEquals(Arrays.asList("GET", "PUT"),
      attributes.get(HBaseSemanticAttributes.CONTAINER_DB_OPERATIONS_KEY));
  }

  @Test
  public void testTracerIsToldAllOfACall() {
    installTracer();
    new IpcClientSpanBuilder()
      .setMethodDescriptor(ClientService.getDescriptor().findMethodByName("Multi")).build().end();
    assertCall("hbase.pb.ClientService", "Multi");
    exported.reset();
    new IpcServerSpanBuilder(mock(RpcCall.class)).build().end();
    assertCall("", "");
  }

  private void assertCall(String service, String method) {
    Attributes attributes = exported();
    assertEquals(HBaseSemanticAttributes.RpcSystem.HBASE_RPC.name(),
      attributes.get(HBaseSemanticAttributes.RPC_SYSTEM));
    assertEquals(service, attributes.get(HBaseSemanticAttributes.RPC_SERVICE));
    assertEquals(method, attributes.get(HBaseSemanticAttributes.RPC_METHOD));
  }

  private Attributes exported() {
    assertEquals(1, exported.getFinishedSpanItems().size());
    return exported.getFinishedSpanItems().get(0).getAttributes();
  }

  @Test
  public void testBatchWithoutTracerLeavesLittleBehind() throws Exception {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      rows.add(new Get(Bytes.toBytes(i)));
    }
    long each = AllocatedBytes.ofThisThread().perCall(SPANS,
      () -> last = new TableOperationSpanBuilder(connection).setTableName(TABLE)
        .setOperation(rows).setContainerOperations(rows).build());
    assertTrue("Allocated " + each + " bytes for a span", each < 1024);
  }
}
