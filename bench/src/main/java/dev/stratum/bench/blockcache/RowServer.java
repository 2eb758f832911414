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
package dev.stratum.bench.blockcache;

import dev.stratum.bench.harness.MeasuredJvm;
import dev.stratum.bench.harness.StandaloneHBase;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.ByteBufferListOutputStream;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.HBaseRpcControllerImpl;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RSRpcServices;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.Shipper;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hbase.thirdparty.com.google.protobuf.ServiceException;
import org.apache.hbase.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * HBase's standalone mode (ZooKeeper, master and RegionServer in this JVM, files under
 * <code>java.io.tmpdir</code>) with a table of one region and one store file, all of it in the
 * block cache, and a way to have the RegionServer serve a get as its handlers do.
 * <p>
 * Rows have YCSB's shape, 10 fields of 100 bytes, of which a block of 32 KB holds 21.
 */
public final class RowServer implements Closeable {
  private static final TableName TABLE = TableName.valueOf("usertable");
  private static final byte[] FAMILY = Bytes.toBytes("family");
  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;
  private static final int BLOCK_BYTES = 32 * 1024;
  private static final int ROW_BYTES = 1560;
  private static final int ROWS_IN_A_FLUSH = 20_000;
  private static final int ROWS_IN_A_BATCH = 100;
  private static final int SCANS = 50;
  private static final RequestHeader MULTI =
    RequestHeader.newBuilder().setMethodName("Multi").build();

  private final Path folder;
  private final int rows;
  private final Codec codec = new KeyValueCodec();
  private final User user;
  private final InetAddress address;
  private StandaloneHBase hbase;
  private HRegion region;
  private RSRpcServices services;
  private ByteBuffAllocator allocator;
  private RegionSpecifier regionSpecifier;

  /**
   * Starts the servers and fills the table and the cache.
   * @param conf     with the settings of the block cache
   * @param dataSize of the table's data blocks, in bytes, roughly
   */
  public RowServer(Configuration conf, long dataSize) throws Exception {
    folder = Files.createTempDirectory("stratum-bench");
    rows = (int) (dataSize / ROW_BYTES);
    user = User.getCurrent();
    address = InetAddress.getLoopbackAddress();
    try {
      start(conf);
      load();
      cache();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private void start(Configuration conf) throws Exception {
    conf.set(HConstants.HBASE_DIR, folder.resolve("hbase").toUri().toString());
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    // Hadoop's local file system with checksums cannot sync a stream.
    conf.setClass("fs.file.impl", RawLocalFileSystem.class, FileSystem.class);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, 5);
    DefaultMetricsSystem.setMiniClusterMode(true);
    hbase = new StandaloneHBase(conf, folder);
    hbase.createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setBlocksize(BLOCK_BYTES).setBloomFilterType(BloomType.ROW).build())
      .setValue("ROW_CACHE_ENABLED", "true").build());
    HRegionServer server = hbase.server();
    region = server.getRegions(TABLE).get(0);
    services = server.getRSRpcServices();
    allocator = server.getRpcServer().getByteBuffAllocator();
    regionSpecifier = RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME,
      region.getRegionInfo().getRegionName());
  }

  private void load() throws IOException {
    Random random = new Random(1);
    List<Put> batch = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      Put put = new Put(key(row)).setDurability(Durability.SKIP_WAL);
      for (int field = 0; field < FIELDS; field++) {
        byte[] value = new byte[FIELD_BYTES];
        random.nextBytes(value);
        put.addColumn(FAMILY, Bytes.toBytes("field" + field), value);
      }
      batch.add(put);
      if (batch.size() == ROWS_IN_A_BATCH || row == rows - 1) {
        region.batchMutate(batch.toArray(new Put[0]));
        batch.clear();
      }
      if (row % ROWS_IN_A_FLUSH == ROWS_IN_A_FLUSH - 1) {
        region.flush(true);
      }
    }
    region.flush(true);
    region.compact(true);
    int files = region.getStore(FAMILY).getStorefilesCount();
    if (files != 1) {
      throw new IllegalStateException("Compacted into " + files + " files instead of one");
    }
  }

  /** Scans until a scan finds every block cached, and then gets a row of every part of the file. */
  private void cache() throws IOException, InterruptedException {
    long misses = -1;
    for (int scans = 0; misses != blockCache().getStats().getMissCount(); scans++) {
      if (scans == SCANS) {
        throw new IllegalStateException("Not all is cached after " + SCANS + " scans");
      }
      misses = blockCache().getStats().getMissCount();
      scan();
      Thread.sleep(100);
    }
    for (int row = 0; row < rows; row += 10) {
      get(row);
    }
  }

  private void scan() throws IOException {
    int found = 0;
    try (RegionScanner scanner = region.getScanner(new Scan())) {
      List<Cell> cells = new ArrayList<>();
      boolean more = true;
      while (more) {
        more = scanner.next(cells);
        found += cells.isEmpty() ? 0 : 1;
        cells.clear();
        ((Shipper) scanner).shipped();
      }
    }
    if (found != rows) {
      throw new IllegalStateException("Scanned " + found + " rows instead of " + rows);
    }
  }

  public int rows() {
    return rows;
  }

  public CombinedBlockCache blockCache() {
    return (CombinedBlockCache) hbase.server().getBlockCache().get();
  }

  private static byte[] key(int row) {
    byte[] key = Bytes.toBytes("user0000000000000000000");
    for (int i = key.length - 1, rest = row; rest > 0; i--, rest /= 10) {
      key[i] = (byte) ('0' + rest % 10);
    }
    return key;
  }

  /**
   * Has the RegionServer serve a get of a whole row: from the parsed request to the response's
   * cells encoded into buffers of its pool, and the blocks released. What is left out is the
   * connection: reading and parsing the request, the queue before the handlers, writing to the
   * socket.
   * @return the number of bytes of the cell block
   */
  public int get(int row) throws IOException {
    GetRequest.Builder request = GetRequest.newBuilder().setRegion(regionSpecifier);
    request.getGetBuilder().setRow(UnsafeByteOperations.unsafeWrap(key(row))).setMaxVersions(1)
      .setCacheBlocks(true);
    return serve(1, controller -> services.get(controller, request.build()));
  }

  /** What a handler calls. */
  private interface Request {
    void serve(HBaseRpcController controller) throws ServiceException;
  }

  private int serve(int rows, Request request) throws IOException {
    GetRpcCall call = GetRpcCall.FACTORY.create(user, address);
    HBaseRpcController controller = new HBaseRpcControllerImpl();
    RpcServer.setCurrentCall(call);
    try {
      request.serve(controller);
    } catch (ServiceException e) {
      throw new IOException(e);
    } finally {
      RpcServer.unsetCurrentCall();
    }
    return encode(rows, controller, call);
  }

  private int encode(int rows, HBaseRpcController controller, GetRpcCall call) throws IOException {
    ByteBufferListOutputStream out = new ByteBufferListOutputStream(allocator);
    try {
      Codec.Encoder encoder = codec.getEncoder(out);
      int cells = 0;
      for (CellScanner scanner = controller.cellScanner(); scanner.advance(); cells++) {
        encoder.write(scanner.current());
      }
      encoder.flush();
      if (cells != rows * FIELDS) {
        throw new IllegalStateException(cells + " cells in " + rows + " rows");
      }
      return out.size();
    } finally {
      call.end();
      out.releaseResources();
    }
  }

  /**
   * Gets several rows in one multi, like {@link #get}.
   * @return the number of bytes of the cell block
   */
  public int multiget(int[] rows) throws IOException {
    MultiRequest request = request(rows);
    dispatch(request);
    return serve(rows.length, controller -> services.multi(controller, request));
  }

  /** Does what the server's code has to do with a request before a handler has it: its queue. */
  private void dispatch(MultiRequest request) {
    services.getPriority(MULTI, request, user);
  }

  private MultiRequest request(int[] rows) {
    RegionAction.Builder actions = RegionAction.newBuilder().setRegion(regionSpecifier);
    for (int i = 0; i < rows.length; i++) {
      Action.Builder action = Action.newBuilder().setIndex(i);
      action.getGetBuilder().setRow(UnsafeByteOperations.unsafeWrap(key(rows[i])))
        .setMaxVersions(1).setCacheBlocks(true);
      actions.addAction(action);
    }
    return MultiRequest.newBuilder().addRegionAction(actions).build();
  }

  /** Returns a multi like that of {@link #multiget}, to run its three parts one by one. */
  public Multi multi(int[] rows) {
    return new Multi(rows.length, request(rows));
  }

  /** A multi of gets, for use by one thread. */
  public final class Multi {
    private final int rows;
    private final MultiRequest request;
    private final GetRpcCall call = GetRpcCall.FACTORY.create(user, address);
    private final HBaseRpcController controller = new HBaseRpcControllerImpl();

    private Multi(int rows, MultiRequest request) {
      this.rows = rows;
      this.request = request;
      dispatch(request);
    }

    /**
     * Does what the RegionServer does, without a response.
     * @return what it answers
     */
    public Object serve() throws IOException {
      RpcServer.setCurrentCall(call);
      try {
        return services.multi(controller, request);
      } catch (ServiceException e) {
        throw new IOException(e);
      } finally {
        RpcServer.unsetCurrentCall();
      }
    }

    /** Encodes the cells and gives the blocks up. @return the number of bytes of the cell block */
    public int respond() throws IOException {
      return encode(rows, controller, call);
    }
  }

  /** Returns the table as a client over loopback sees it, for one thread. */
  public Table table() throws IOException {
    return hbase.connection().getTable(TABLE);
  }

  /** Returns a get of a whole row, for {@link #table}. */
  public Get clientGet(int row) {
    return new Get(key(row));
  }

  @Override
  public void close() throws IOException {
    if (MeasuredJvm.isEnding()) {
      return;
    }
    if (hbase != null) {
      hbase.close();
    }
    FileUtils.deleteDirectory(folder.toFile());
  }
}
