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
package dev.stratum.bench.harness;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.server.common.HdfsServerConstants;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * HDFS in this JVM: a NameNode and DataNodes that talk over loopback and keep their files in
 * memory, under <code>/dev/shm</code>, where the system has that and {@value #ROOM} bytes of room
 * in it: a disk busy with what was written before made the same run a third slower. Elsewhere
 * they are under <code>java.io.tmpdir</code>. Their web pages, which only HDFS's distribution has,
 * are empty ones among this module's resources. Not thread-safe.
 */
public final class LoopbackHdfs implements Closeable {
  private static final String ANY_PORT = "127.0.0.1:0";
  private static final long ROOM = 4L << 30;

  private final Path folder;
  private final Configuration conf;
  private final DataNode[] dataNodes;
  private NameNode nameNode;

  /**
   * Starts it, and makes it the file system of {@code conf}.
   * @param count of DataNodes, each of which gets a copy of every block
   */
  public LoopbackHdfs(Configuration conf, int count) throws IOException {
    this.conf = conf;
    this.folder = Files.createTempDirectory(parent(), "stratum-bench");
    // What is left in memory is lost to the machine.
    Runtime.getRuntime()
      .addShutdownHook(new Thread(() -> FileUtils.deleteQuietly(folder.toFile())));
    this.dataNodes = new DataNode[count];
    try {
      start();
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static Path parent() throws IOException {
    Path memory = Paths.get("/dev/shm");
    return Files.isWritable(memory) && Files.getFileStore(memory).getUsableSpace() >= ROOM
      ? memory
      : Paths.get(System.getProperty("java.io.tmpdir"));
  }

  private void start() throws IOException {
    DefaultMetricsSystem.setMiniClusterMode(true);
    HdfsServerConstants.StartupOption.FORMAT.setForceFormat(true);
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    conf.set(DFSConfigKeys.DFS_NAMENODE_NAME_DIR_KEY, folder.resolve("name").toUri().toString());
    conf.setInt(DFSConfigKeys.DFS_REPLICATION_KEY, dataNodes.length);
    conf.setInt(DFSConfigKeys.DFS_NAMENODE_REPLICATION_MIN_KEY, 1);
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY, "hdfs://" + ANY_PORT);
    conf.set(DFSConfigKeys.DFS_NAMENODE_HTTP_ADDRESS_KEY, ANY_PORT);
    conf.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, ANY_PORT);
    conf.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, ANY_PORT);
    conf.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, ANY_PORT);
    NameNode.format(conf);
    nameNode = NameNode.createNameNode(new String[0], conf);
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY,
      "hdfs://127.0.0.1:" + nameNode.getNameNodeAddress().getPort());
    for (int i = 0; i < dataNodes.length; i++) {
      Configuration own = new Configuration(conf);
      own.set(DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY,
        folder.resolve("data" + i).toUri().toString());
      dataNodes[i] = DataNode.createDataNode(new String[0], own);
    }
    while (nameNode.getNamesystem().getNumLiveDataNodes() < dataNodes.length) {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException(e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    for (DataNode dataNode : dataNodes) {
      if (dataNode != null) {
        dataNode.shutdown();
      }
    }
    if (nameNode != null) {
      nameNode.stop();
      nameNode.join();
    }
    FileUtils.deleteDirectory(folder.toFile());
  }
}
