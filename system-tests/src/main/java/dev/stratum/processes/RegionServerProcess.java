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
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * A RegionServer in a JVM of its own. A subclass has the main method and more requests. Requests:
 * <ul>
 * <li><code>start</code> with <code>site</code>, see {@link SiteFile}: answers the server's
 * <code>name</code> and <code>version</code> when it is online;</li>
 * <li><code>stop</code>: answers when the server has stopped, as a daemon script would stop
 * it;</li>
 * <li><code>calls</code>: see {@link ServerCalls}.</li>
 * </ul>
 */
public class RegionServerProcess implements Conversation.Answers {
  private static final long ONLINE_SECONDS = 300;
  private static final long POLL_MILLIS = 20;

  private HRegionServer server;

  protected RegionServerProcess() {
  }

  /** Returns the server, or null before <code>start</code>. */
  protected final HRegionServer server() {
    return server;
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "start":
        return start(SiteFile.read(request));
      case "stop":
        server.stop("asked to");
        // Waits without a limit: the parent has one for its request.
        server.join();
        return null;
      case "calls":
        return new JsonPrimitive(ServerCalls.describe(server.getRpcServer().getScheduler()));
      default:
        throw new IllegalArgumentException("unknown request " + request);
    }
  }

  /** Starts the server, waits until it is online, and returns the answer to the request. */
  protected JsonObject start(Configuration conf) throws Exception {
    server = new HRegionServer(conf);
    server.start();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(ONLINE_SECONDS);
    while (!server.isOnline()) {
      if (server.isStopped() || server.isAborted()) {
        throw new ProcessException("The RegionServer ended while starting.");
      }
      if (System.nanoTime() - deadline > 0) {
        throw new ProcessException(
          "The RegionServer was not online within " + ONLINE_SECONDS + " s.");
      }
      Thread.sleep(POLL_MILLIS);
    }
    JsonObject answer = new JsonObject();
    answer.addProperty("name", server.getServerName().toString());
    answer.addProperty("version", VersionInfo.getVersion());
    return answer;
  }
}
