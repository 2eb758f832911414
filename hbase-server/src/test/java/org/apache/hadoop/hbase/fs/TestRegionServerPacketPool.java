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
package org.apache.hadoop.hbase.fs;

import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests what a RegionServer with the default settings allocates to write a file to HDFS. */
@Category({ IOTests.class, MediumTests.class })
public class TestRegionServerPacketPool {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionServerPacketPool.class);

  private static final int MB = 1 << 20;
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();

  /**
   * A server whose configuration is as in a process of its own. A mini cluster copies it value by
   * value, after which all of it, the defaults of HDFS as well, is set by a program.
   */
  public static class Server extends MiniHBaseCluster.MiniHBaseClusterRegionServer {
    public Server(Configuration conf) throws IOException, InterruptedException {
      super(unset(conf));
    }

    private static Configuration unset(Configuration conf) {
      conf.unset(HdfsPacketPool.ENABLED_KEY);
      conf.unset(HdfsPacketPool.LIMIT_KEY);
      conf.unset(HdfsPacketPool.CONTEXT_KEY);
      return conf;
    }
  }

  @BeforeClass
  public static void start() throws Exception {
    UTIL.startMiniCluster(StartMiniClusterOption.builder().rsClass(Server.class).build());
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  /** Fails on the published jar, where the writer allocates more than it writes. */
  @Test
  public void testNoBufferIsAllocatedForEachPacket() throws Exception {
    FileSystem fs = UTIL.getMiniHBaseCluster().getRegionServer(0).getFileSystem();
    // HDFS waits for 128 packets before it keeps any.
    write(fs, new Path("/warm-up"), 16);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(thread);
    write(fs, new Path("/file"), 64);
    long allocated = threads.getThreadAllocatedBytes(thread) - before;
    // As many buffers as can be on their way at a time may have been missing in the pool.
    assertTrue("Allocated " + allocated + " bytes to write 64 MB", allocated < 16 * MB);
  }

  private static void write(FileSystem fs, Path path, int megabytes) throws IOException {
    byte[] data = new byte[MB];
    try (FSDataOutputStream out = fs.create(path)) {
      for (int i = 0; i < megabytes; i++) {
        out.write(data);
      }
    }
  }
}
