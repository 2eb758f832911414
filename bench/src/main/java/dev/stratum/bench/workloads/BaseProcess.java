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
import dev.stratum.processes.StorageProcess;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * What a RegionServer needs around it, in one JVM: HDFS, ZooKeeper and the master. One more
 * request: <code>counters</code>.
 */
final class BaseProcess extends StorageProcess {
  private BaseProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new BaseProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    return request.get("do").getAsString().equals("counters")
      ? JvmCounters.read()
      : super.answer(request, conversation);
  }

  @Override
  protected JsonObject start(Configuration conf, int dataNodes) throws Exception {
    JsonObject keys = super.start(conf, dataNodes);
    ServerSettings.setCodecs(conf);
    JVMClusterUtil.createMasterThread(conf, HMaster.class, 0).start();
    return keys;
  }
}
