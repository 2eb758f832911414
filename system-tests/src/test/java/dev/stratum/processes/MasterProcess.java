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
import dev.stratum.childprocess.ProcessException;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * A master. Requests: <code>start</code>, which answers its version when it is active and
 * initialized, and <code>stop</code>.
 */
final class MasterProcess implements Conversation.Answers {
  private HMaster master;

  private MasterProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new MasterProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "start":
        master = new HMaster(SiteFile.read(request));
        master.start();
        while (!master.isInitialized()) {
          if (master.isStopped() || master.isAborted()) {
            throw new ProcessException("The master ended while starting.");
          }
          Thread.sleep(20);
        }
        return new JsonPrimitive(VersionInfo.getVersion());
      case "stop":
        master.stopMaster();
        master.join();
        return null;
      default:
        throw new IllegalArgumentException(request.toString());
    }
  }
}
