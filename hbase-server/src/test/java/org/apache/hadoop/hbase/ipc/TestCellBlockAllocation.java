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
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.io.AllocatedBytes;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.ByteBufferListOutputStream;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

import org.apache.hbase.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.hbase.thirdparty.io.netty.buffer.PooledByteBufAllocator;

/** Fails when a cell block of a response or of a request leaves more than a little on the heap. */
@RunWith(Parameterized.class)
@Category({ RPCTests.class, SmallTests.class })
public class TestCellBlockAllocation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCellBlockAllocation.class);

  private static final int CALLS = 1000;
  /** Bytes for each cell block of 128 KB at most, of which there is one buffer object per 65 KB. */
  private static final int GARBAGE = 1024;

  private final Configuration conf = HBaseConfiguration.create();
  private final CellBlockBuilder builder = new CellBlockBuilder(conf);
  private final KeyValueCodec codec = new KeyValueCodec();
  private final Cell[] cells;

  public TestCellBlockAllocation(int size) {
    Cell cell = new KeyValue(Bytes.toBytes("row"), Bytes.toBytes("family"), Bytes.toBytes("field"),
      1L, new byte[4000]);
    cells = new Cell[size / cell.getSerializedSize()];
    Arrays.fill(cells, cell);
  }

  @Parameterized.Parameters(name = "{0}")
  public static List<Object[]> sizes() {
    List<Object[]> sizes = new ArrayList<>();
    for (int kb = 8; kb <= 128; kb *= 4) {
      sizes.add(new Object[] { kb * 1024 });
    }
    return sizes;
  }

  @Test
  public void testResponseIsInBuffersOfThePool() throws Exception {
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    long perCall = AllocatedBytes.ofThisThread().perCall(CALLS, () -> {
      ByteBufferListOutputStream block =
        builder.buildCellBlockStream(codec, null, CellUtil.createCellScanner(cells), pool);
      assertTrue(block.size() > cells.length * 4000);
      block.getByteBuffers();
      block.releaseResources();
    });
    assertTrue("Allocated " + perCall + " bytes", perCall <= GARBAGE);
    assertEquals("All buffers are back", pool.getUsedBufferCount(), pool.getFreeBufferCount());
    pool.clean();
  }

  @Test
  public void testRequestIsInABufferOfNetty() throws Exception {
    long perCall = AllocatedBytes.ofThisThread().perCall(CALLS, () -> {
      ByteBuf block = builder.buildCellBlock(codec, null, CellUtil.createCellScanner(cells),
        PooledByteBufAllocator.DEFAULT);
      assertTrue(block.readableBytes() > cells.length * 4000);
      assertTrue(block.release());
    });
    assertTrue("Allocated " + perCall + " bytes", perCall <= GARBAGE);
  }
}
