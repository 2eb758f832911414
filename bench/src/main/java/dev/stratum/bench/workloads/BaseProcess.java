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
package dev.stratum.bench.workloads;

import dev.stratum.childprocess.Conversation;
import dev.stratum.processes.LoopbackHdfs;
import java.io.File;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * What a RegionServer needs around it, in one JVM: HDFS with one DataNode, ZooKeeper and the
 * master. Requests: <code>start</code> with <code>conf</code>, which answers the keys that the
 * others need to find it, and <code>counters</code>.
 */
final class BaseProcess implements Conversation.Answers {
  private static final int DATA_NODES = 1;

  private BaseProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new BaseProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    String what = request.get("do").getAsString();
    switch (what) {
      case "start":
        return start(configuration(request.getAsJsonObject("conf")));
      case "counters":
        return JvmCounters.read();
      default:
        throw new IllegalArgumentException("unknown request " + what);
    }
  }

  static Configuration configuration(JsonObject keys) {
    Configuration conf = HBaseConfiguration.create();
    for (Map.Entry<String, JsonElement> key : keys.entrySet()) {
      conf.set(key.getKey(), key.getValue().getAsString());
    }
    String folder = System.getProperty("java.io.tmpdir");
    conf.set("hbase.tmp.dir", folder + "/hbase");
    conf.set("hadoop.tmp.dir", folder + "/hadoop");
    return conf;
  }

  private static JsonObject start(Configuration conf) throws Exception {
    // None of them is ever closed: the process is ended as a whole, and its folder removed.
    new LoopbackHdfs(conf, DATA_NODES);
    conf.set(HConstants.HBASE_DIR, conf.get("fs.defaultFS") + "/hbase");
    MiniZooKeeperCluster zooKeeper = new MiniZooKeeperCluster(conf);
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
      zooKeeper.startup(new File(System.getProperty("java.io.tmpdir"), "zookeeper")));
    JVMClusterUtil.createMasterThread(conf, HMaster.class, 0).start();
    JsonObject keys = new JsonObject();
    for (String key : new String[] { "fs.defaultFS", HConstants.HBASE_DIR,
      HConstants.ZOOKEEPER_CLIENT_PORT, "dfs.replication", "dfs.namenode.replication.min" }) {
      keys.addProperty(key, conf.get(key));
    }
    return keys;
  }
}
