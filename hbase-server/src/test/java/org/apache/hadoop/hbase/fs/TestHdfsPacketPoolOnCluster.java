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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.client.HdfsDataOutputStream;
import org.apache.hadoop.hdfs.util.ByteArrayManager;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that no writer of files on HDFS is stalled by the pool of its packets. */
@Category({ IOTests.class, LargeTests.class })
public class TestHdfsPacketPoolOnCluster {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHdfsPacketPoolOnCluster.class);

  private static final int MB = 1 << 20;
  /** Enough for a packet that has something in it and waits for more. */
  private static final int PART_OF_PACKET = 10_000;

  /** Buffers of a size, where there is a limit. */
  private static final int LIMIT = 16;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] DATA = new byte[4 * MB];

  @BeforeClass
  public static void start() throws Exception {
    new Random(1).nextBytes(DATA);
    // A DataNode that is gone is found out at once, and not asked again and again.
    UTIL.getConfiguration().setInt("dfs.client.block.write.retries", 0);
    UTIL.startMiniDFSCluster(1);
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniDFSCluster();
  }

  @Test(timeout = 300000)
  public void testManyWritersFinish() throws Exception {
    writeConcurrently(conf("many"), 48);
  }

  /** Fewer buffers than writers: each waits for the others, and all of them finish. */
  @Test(timeout = 300000)
  public void testManyWritersFinishWithALowLimit() throws Exception {
    Configuration conf = conf("low-limit");
    conf.setInt(HdfsPacketPool.LIMIT_KEY, 3);
    writeConcurrently(conf, 24);
  }

  /** A thread that splits a WAL has a file with a packet that is not full for each region. */
  @Test(timeout = 300000)
  public void testOneThreadWithManyFilesIsNotStalled() throws Exception {
    try (FileSystem limited = fileSystem("one-thread-limited", LIMIT);
      FileSystem fs = fileSystem("one-thread", 0)) {
      assertTrue("A limit stalls it", isStalled(() -> writeAlternately(limited)));
      assertFalse("Without one it ends", isStalled(() -> writeAlternately(fs)));
    }
  }

  /** HDFS does not take back the packet that a file was filling when its DataNodes went. */
  @Test(timeout = 300000)
  public void testFilesThatFailDoNotUseUpThePool() throws Exception {
    try (FileSystem limited = fileSystem("failures-limited", LIMIT);
      FileSystem fs = fileSystem("failures", 0)) {
      List<FSDataOutputStream> files = new ArrayList<>();
      for (int i = 0; i < LIMIT; i++) {
        files.add(partOfPacket(limited, i));
        files.add(partOfPacket(fs, i));
      }
      MiniDFSCluster.DataNodeProperties node = UTIL.getDFSCluster().stopDataNode(0);
      for (FSDataOutputStream file : files) {
        awaitFailure(file);
        closeQuietly(file);
      }
      UTIL.getDFSCluster().restartDataNode(node, true);
      UTIL.getDFSCluster().waitActive();
      assertTrue("They use a limit up",
        isStalled(() -> write(limited, new Path("/again-limited"), DATA)));
      assertFalse("Without one it ends", isStalled(() -> write(fs, new Path("/again"), DATA)));
    }
  }

  private static Void writeAlternately(FileSystem fs) throws IOException {
    List<FSDataOutputStream> files = new ArrayList<>();
    for (int i = 0; i <= LIMIT; i++) {
      files.add(fs.create(new Path(folder(fs), "file" + i)));
      files.get(i).write(DATA, 0, PART_OF_PACKET);
    }
    for (FSDataOutputStream file : files) {
      file.close();
    }
    return null;
  }

  /** Returns a file with a pipeline, and with a packet that it does not send yet. */
  private static FSDataOutputStream partOfPacket(FileSystem fs, int i) throws IOException {
    FSDataOutputStream file = fs.create(new Path(folder(fs), "file" + i));
    file.write(DATA, 0, PART_OF_PACKET);
    file.hflush();
    file.write(DATA, 0, PART_OF_PACKET);
    return file;
  }

  /** Waits until {@code file} knows that it has no DataNode any more, without writing to it. */
  private static void awaitFailure(FSDataOutputStream file) throws InterruptedException {
    try {
      while (true) {
        ((HdfsDataOutputStream) file).getCurrentBlockReplication();
        Thread.sleep(10);
      }
    } catch (IOException expected) {
      // It is closed, and says so.
    }
  }

  private static void closeQuietly(FSDataOutputStream file) {
    try {
      file.close();
    } catch (IOException expected) {
      // Its DataNode is gone. What is to be seen is what it leaves behind.
    }
  }

  private static Path folder(FileSystem fs) {
    return new Path("/" + fs.getConf().get(HdfsPacketPool.CONTEXT_KEY));
  }

  /** Returns a client that has a pool of its own, with a limit unless that is 0. */
  private static FileSystem fileSystem(String context, int limit) throws IOException {
    Configuration conf = conf(context);
    if (limit > 0) {
      conf.setInt(HdfsPacketPool.LIMIT_KEY, limit);
    }
    HdfsPacketPool.configure(conf);
    return FileSystem.newInstance(conf);
  }

  private static Configuration conf(String context) {
    Configuration conf = new Configuration(UTIL.getConfiguration());
    conf.set(HdfsPacketPool.CONTEXT_KEY, context);
    // This pools from the first packet on.
    conf.setInt("dfs.client.write.byte-array-manager.count-threshold", 0);
    return conf;
  }

  /** Returns whether {@code writes} wait for a buffer of the pool, or else that they have ended. */
  private static boolean isStalled(Callable<?> writes) throws Exception {
    FutureTask<?> end = new FutureTask<>(writes);
    Thread writer = new Thread(end, "writer");
    writer.start();
    for (int waits = 0; waits < 20;) {
      try {
        end.get(100, TimeUnit.MILLISECONDS);
        return false;
      } catch (TimeoutException e) {
        waits = waitsForBuffer(writer) ? waits + 1 : 0;
      }
    }
    writer.interrupt();
    writer.join();
    return true;
  }

  private static boolean waitsForBuffer(Thread writer) {
    return writer.getState() == Thread.State.WAITING && Arrays.stream(writer.getStackTrace())
      .anyMatch(frame -> frame.getClassName().startsWith(ByteArrayManager.class.getName()));
  }

  private static void writeConcurrently(Configuration conf, int count) throws Exception {
    HdfsPacketPool.configure(conf);
    ExecutorService writers = Executors.newFixedThreadPool(count);
    try (FileSystem fs = FileSystem.newInstance(conf)) {
      List<Future<Path>> files = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        Path file = new Path("/" + conf.get(HdfsPacketPool.CONTEXT_KEY) + "/file" + i);
        files.add(writers.submit(() -> write(fs, file, DATA)));
      }
      for (Future<Path> file : files) {
        assertHolds(fs, file.get(), DATA);
      }
    } catch (ExecutionException e) {
      throw new AssertionError(e);
    } finally {
      writers.shutdownNow();
    }
  }

  /** Writes {@code data} with a sync now and then, as the log of a RegionServer is. */
  private static Path write(FileSystem fs, Path file, byte[] data) throws IOException {
    try (FSDataOutputStream out = fs.create(file)) {
      for (int offset = 0; offset < data.length; offset += MB) {
        out.write(data, offset, MB);
        out.hflush();
      }
    }
    return file;
  }

  private static void assertHolds(FileSystem fs, Path file, byte[] data) throws IOException {
    assertEquals(data.length, fs.getFileStatus(file).getLen());
    byte[] read = new byte[data.length];
    try (FSDataInputStream in = fs.open(file)) {
      in.readFully(0, read);
    }
    assertArrayEquals(data, read);
  }
}
