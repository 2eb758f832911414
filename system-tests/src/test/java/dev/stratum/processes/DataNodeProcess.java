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
import java.nio.file.Path;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** One more DataNode, which can be stopped. The only request is <code>start</code>. */
final class DataNodeProcess implements Conversation.Answers {
  private DataNodeProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new DataNodeProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    LoopbackHdfs.startDataNode(SiteFile.read(request),
      Path.of(System.getProperty("java.io.tmpdir"), "data"));
    return null;
  }
}
