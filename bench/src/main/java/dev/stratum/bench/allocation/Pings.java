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
package dev.stratum.bench.allocation;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.ipc.FifoRpcScheduler;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.ipc.RpcServerFactory;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.AddrResponseProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EchoRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EchoResponseProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EmptyRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EmptyResponseProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.PauseRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestRpcServiceProtos.TestProtobufRpcProto;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hbase.thirdparty.com.google.protobuf.RpcController;

/** A service that answers every request with the same cells and does not look at those it gets. */
final class Pings implements TestProtobufRpcProto.BlockingInterface {
  /** The service's name in a connection's header. */
  static final String NAME = TestProtobufRpcProto.getDescriptor().getName();

  private static final int VALUE_BYTES = 100;

  private final Cell[] cells;

  private Pings(Cell[] cells) {
    this.cells = cells;
  }

  /** Returns an RPC server as a RegionServer has it, with one handler and this service. */
  static RpcServerInterface server(Configuration conf, List<Cell> cells) throws IOException {
    RpcServerInterface server = RpcServerFactory.createRpcServer(null, "pings",
      Collections.singletonList(new RpcServer.BlockingServiceAndInterface(
        TestProtobufRpcProto.newReflectiveBlockingService(new Pings(cells.toArray(new Cell[0]))),
        null)),
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), conf,
      new FifoRpcScheduler(conf, 1));
    server.start();
    return server;
  }

  /** Returns cells of 100 bytes each that take so many bytes in a cell block, or some more. */
  static List<Cell> cells(int bytes) {
    List<Cell> cells = new ArrayList<>();
    for (int size = 0; size < bytes; size += cells.get(0).getSerializedSize() + Integer.BYTES) {
      cells.add(new KeyValue(Bytes.toBytes(String.format("user%019d", size)),
        Bytes.toBytes("family"), Bytes.toBytes("field"), 1L, new byte[VALUE_BYTES]));
    }
    return cells;
  }

  /** Returns the cell block of these cells. */
  static byte[] cellBlock(List<Cell> cells) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Codec.Encoder encoder = new KeyValueCodec().getEncoder(bytes);
    for (Cell cell : cells) {
      encoder.write(cell);
    }
    encoder.flush();
    return bytes.toByteArray();
  }

  @Override
  public EmptyResponseProto ping(RpcController controller, EmptyRequestProto request) {
    ((HBaseRpcController) controller)
      .setCellScanner(cells.length == 0 ? null : CellUtil.createCellScanner(cells));
    return EmptyResponseProto.getDefaultInstance();
  }

  @Override
  public EchoResponseProto echo(RpcController controller, EchoRequestProto request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyResponseProto error(RpcController controller, EmptyRequestProto request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public EmptyResponseProto pause(RpcController controller, PauseRequestProto request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public AddrResponseProto addr(RpcController controller, EmptyRequestProto request) {
    throw new UnsupportedOperationException();
  }
}
