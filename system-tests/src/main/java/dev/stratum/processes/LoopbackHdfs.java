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
package dev.stratum.processes;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>
 * What a JVM that was killed has left in memory is removed by the next one.
 */
public final class LoopbackHdfs implements Closeable {
  private static final String ANY_PORT = "127.0.0.1:0";
  private static final Path MEMORY = Path.of("/dev/shm");
  private static final long ROOM = 4L << 30;
  static final String PREFIX = "stratum-hdfs";
  /** Opening and closing the file of a lock would release the lock that this JVM has on it. */
  private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

  private final Path folder;
  /** Held for as long as this JVM lives. */
  private final FileChannel lock;
  private final Configuration conf;
  private final DataNode[] dataNodes;
  private NameNode nameNode;

  /**
   * Starts it, and makes it the file system of {@code conf}.
   * @param count of DataNodes, each of which gets a copy of every block
   */
  public LoopbackHdfs(Configuration conf, int count) throws IOException {
    this.conf = conf;
    removeAbandoned();
    this.folder = Files.createTempDirectory(parent(), PREFIX);
    this.lock = lock(folder);
    // What is left in memory is lost to the machine.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> {
      FileUtils.deleteQuietly(folder.toFile());
      FileUtils.deleteQuietly(lockFile(folder).toFile());
    }));
    this.dataNodes = new DataNode[count];
    try {
      start();
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static Path parent() throws IOException {
    return Files.isWritable(MEMORY) && Files.getFileStore(MEMORY).getUsableSpace() >= ROOM
      ? MEMORY
      : Path.of(System.getProperty("java.io.tmpdir"));
  }

  private static Path lockFile(Path folder) {
    return folder.resolveSibling(folder.getFileName() + ".lock");
  }

  static FileChannel lock(Path folder) throws IOException {
    OWN.add(folder);
    Path unseen = Files.createTempFile(folder, "lock", null);
    FileChannel channel = FileChannel.open(unseen, StandardOpenOption.WRITE);
    channel.lock();
    Files.move(unseen, lockFile(folder));
    return channel;
  }

  /** Removes from memory what JVMs have left there that were killed, if it can. */
  public static void removeAbandoned() {
    try {
      if (Files.isWritable(MEMORY)) {
        removeAbandoned(MEMORY);
      }
    } catch (IOException | DirectoryIteratorException e) {
      // It costs no more than room.
      e.printStackTrace();
    }
  }

  /** Removes the folders of processes that have ended, whose locks are free. */
  static void removeAbandoned(Path parent) throws IOException {
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*[0-9]")) {
      for (Path folder : folders) {
        if (OWN.contains(folder)) {
          continue;
        }
        try (FileChannel channel = FileChannel.open(lockFile(folder), StandardOpenOption.WRITE);
          FileLock abandoned = channel.tryLock()) {
          if (abandoned != null) {
            FileUtils.deleteQuietly(folder.toFile());
            Files.deleteIfExists(lockFile(folder));
          }
        } catch (NoSuchFileException | AccessDeniedException e) {
          // It is just being made or removed, or another user's.
          continue;
        }
      }
    }
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
    NameNode.format(conf);
    nameNode = NameNode.createNameNode(new String[0], conf);
    conf.set(FileSystem.FS_DEFAULT_NAME_KEY,
      "hdfs://127.0.0.1:" + nameNode.getNameNodeAddress().getPort());
    for (int i = 0; i < dataNodes.length; i++) {
      dataNodes[i] = startDataNode(conf, folder.resolve("data" + i));
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

  /**
   * Starts one more DataNode, which may be in another process.
   * @param conf as it is when the constructor is done
   */
  public static DataNode startDataNode(Configuration conf, Path folder) throws IOException {
    Configuration own = new Configuration(conf);
    own.set(DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY, folder.toUri().toString());
    own.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, ANY_PORT);
    own.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, ANY_PORT);
    own.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, ANY_PORT);
    return DataNode.createDataNode(new String[0], own);
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
    Files.deleteIfExists(lockFile(folder));
    lock.close();
  }
}
