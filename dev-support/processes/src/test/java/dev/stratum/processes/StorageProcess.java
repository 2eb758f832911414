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

import dev.stratum.childprocess.Conversation;
import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * HDFS with two DataNodes, and ZooKeeper. The only request, <code>start</code>, answers the keys
 * that the others need to find them.
 */
final class StorageProcess implements Conversation.Answers {
  private static final int DATA_NODES = 2;

  private StorageProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new StorageProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    Configuration conf = SiteFile.read(request);
    // Neither is ever closed: the process is ended as a whole.
    new LoopbackHdfs(conf, DATA_NODES);
    conf.set(HConstants.HBASE_DIR, conf.get("fs.defaultFS") + "/hbase");
    MiniZooKeeperCluster zooKeeper = new MiniZooKeeperCluster(conf);
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
      zooKeeper.startup(new File(System.getProperty("java.io.tmpdir"), "zookeeper")));
    JsonObject keys = new JsonObject();
    for (String key : new String[] { "fs.defaultFS", HConstants.HBASE_DIR,
      HConstants.ZOOKEEPER_CLIENT_PORT, "dfs.replication", "dfs.namenode.replication.min" }) {
      keys.addProperty(key, conf.get(key));
    }
    return keys;
  }
}
