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

import dev.stratum.bench.PinnedJvm;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.HBaseRpcControllerImpl;
import org.apache.hadoop.hbase.ipc.RpcClient;
import org.apache.hadoop.hbase.ipc.RpcClientFactory;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EmptyRequestProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestRpcServiceProtos.TestProtobufRpcProto;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestRpcServiceProtos.TestProtobufRpcProto.BlockingInterface;
import org.apache.hbase.thirdparty.com.google.protobuf.ServiceException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One call with a cell block, over a connection on this machine, in microseconds and in bytes of
 * heap that one side of the connection allocates for it: a server that answers with cells
 * ({@link #serverResponse}) or takes them ({@link #serverRequest}), a client that sends them
 * ({@link #clientRequest}) or gets them as an answer and decodes them, so that the
 * cells themselves, which the caller keeps, are part of the figure ({@link #clientResponse}). The
 * other side is a stub that allocates nothing.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CellBlocksBenchmark -Djmh.forks=1
 * </pre>
 *
 * See HBASE-22905 and HBASE-15757.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
public class CellBlocksBenchmark extends PinnedJvm {
  private static final int MAX_HEADER = 256;

  /** A real server, and a stub for a client. */
  @State(Scope.Thread)
  public abstract static class OfServer {
    /** The size of the cell block in bytes, before the last cell. */
    @Param({ "8192", "65536", "131072" })
    public int size;

    private RpcServerInterface server;
    private StubClient client;

    void start(List<Cell> received, List<Cell> sent) throws IOException {
      server = Pings.server(HBaseConfiguration.create(), sent);
      client = new StubClient(server.getListenerAddress(), Pings.cellBlock(received),
        MAX_HEADER + Pings.cellBlock(sent).length);
    }

    int call() throws IOException {
      return client.call();
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      client.close();
      server.stop();
    }
  }

  /** A server that answers with a cell block. */
  public static class Answering extends OfServer {
    @Setup(Level.Trial)
    public void start() throws IOException {
      start(Collections.emptyList(), Pings.cells(size));
    }
  }

  /** A server that takes a cell block. */
  public static class Taking extends OfServer {
    @Setup(Level.Trial)
    public void start() throws IOException {
      start(Pings.cells(size), Collections.emptyList());
    }
  }

  /** A real client, and a stub for a server. */
  @State(Scope.Thread)
  public abstract static class OfClient {
    private static final int TIMEOUT_MILLIS = 60_000;

    /** The size of the cell block in bytes, before the last cell. */
    @Param({ "8192", "65536", "131072" })
    public int size;

    /** The RPC client: <code>BlockingRpcClient</code> or <code>NettyRpcClient</code>. */
    @Param({ "BlockingRpcClient", "NettyRpcClient" })
    public String client;

    private StubServer server;
    private RpcClient rpc;
    private BlockingInterface stub;

    void start(byte[] answer) throws IOException {
      server = new StubServer(answer);
      Configuration conf = HBaseConfiguration.create();
      conf.set(RpcClientFactory.CUSTOM_RPC_CLIENT_IMPL_CONF_KEY,
        RpcClient.class.getPackageName() + "." + client);
      rpc = RpcClientFactory.createClient(conf, "benchmark");
      stub = TestProtobufRpcProto.newBlockingStub(
        rpc.createBlockingRpcChannel(server.name(), User.getCurrent(), TIMEOUT_MILLIS));
    }

    HBaseRpcController call(Cell[] cells) throws ServiceException {
      HBaseRpcController controller = new HBaseRpcControllerImpl();
      if (cells != null) {
        controller.setCellScanner(CellUtil.createCellScanner(cells));
      }
      stub.ping(controller, EmptyRequestProto.getDefaultInstance());
      return controller;
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      rpc.close();
      server.close();
    }
  }

  /** A client that sends a cell block. */
  public static class Sending extends OfClient {
    private Cell[] cells;

    @Setup(Level.Trial)
    public void start() throws IOException {
      cells = Pings.cells(size).toArray(new Cell[0]);
      start(new byte[0]);
    }
  }

  /** A client that is answered with a cell block. */
  public static class Receiving extends OfClient {
    @Setup(Level.Trial)
    public void start() throws IOException {
      start(Pings.cellBlock(Pings.cells(size)));
    }
  }

  /** @return the size of the response, in bytes */
  @Benchmark
  public int serverResponse(Answering server) throws IOException {
    return server.call();
  }

  /** @return the size of the response, in bytes */
  @Benchmark
  public int serverRequest(Taking server) throws IOException {
    return server.call();
  }

  /** @return what the call left */
  @Benchmark
  public Object clientRequest(Sending client) throws ServiceException {
    return client.call(client.cells);
  }

  /** @return the number of cells in the response */
  @Benchmark
  public int clientResponse(Receiving client) throws ServiceException, IOException {
    CellScanner scanner = client.call(null).cellScanner();
    int cells = 0;
    while (scanner.advance()) {
      cells++;
    }
    return cells;
  }
}
