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

import java.util.LinkedHashMap;
import java.util.Map;

/** HBase's keys for a cluster of processes on one machine. */
public final class LoopbackKeys {
  private LoopbackKeys() {
  }

  /**
   * Returns a new map of keys for all processes: loopback only, names that need no DNS, and ports
   * that no other process has. No process ends its server at a signal.
   */
  public static Map<String, String> create() {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("hbase.cluster.distributed", "true");
    keys.put("hbase.zookeeper.quorum", "localhost");
    keys.put("hbase.master.hostname", "localhost");
    keys.put("hbase.unsafe.regionserver.hostname", "localhost");
    keys.put("hbase.master.ipc.address", "127.0.0.1");
    keys.put("hbase.regionserver.ipc.address", "127.0.0.1");
    keys.put("hbase.master.port", "0");
    keys.put("hbase.regionserver.port", "0");
    keys.put("hbase.master.info.port", "-1");
    keys.put("hbase.regionserver.info.port", "-1");
    keys.put("hbase.shutdown.hook", "false");
    keys.put("hbase.master.wait.on.regionservers.interval", "100");
    return keys;
  }
}
