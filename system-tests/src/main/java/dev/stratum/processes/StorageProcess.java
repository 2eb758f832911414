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
 * HDFS and ZooKeeper in a JVM of their own. Request: <code>start</code> with <code>site</code>, see
 * {@link SiteFile}, and <code>dataNodes</code>, the number of DataNodes; answers the keys that the
 * other processes need to find them.
 */
public class StorageProcess implements Conversation.Answers {
  protected StorageProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new StorageProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    if (!request.get("do").getAsString().equals("start")) {
      throw new IllegalArgumentException("unknown request " + request);
    }
    return start(SiteFile.read(request), request.get("dataNodes").getAsInt());
  }

  /**
   * Starts both, and returns the answer to the request.
   * @param conf gets the keys of the answer
   */
  protected JsonObject start(Configuration conf, int dataNodes) throws Exception {
    // Neither is ever closed: the process is ended as a whole.
    new LoopbackHdfs(conf, dataNodes);
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
