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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.Map;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

/** {@code /async-wal} of a RegionServer: the writes that a crash would lose, per WAL. */
@InterfaceAudience.Private
public class AsyncWalServlet extends StatusServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/async-wal";

  @Override
  String page(HRegionServer server) {
    return AsyncWalSection.page(server.getConfiguration(), server.getServerName().toString());
  }

  @Override
  Map<String, Object> fields(HRegionServer server) {
    return AsyncWalSection.fields(server.getConfiguration(), server.getServerName().toString(),
      System.currentTimeMillis());
  }
}
