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
package org.apache.hadoop.hbase.regionserver.wal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * {@code /async-wal} of a RegionServer: the writes that a crash would lose, per WAL, as JSON.
 * Accessible to the users of the RegionServer's status page.
 */
@InterfaceAudience.Private
public class AsyncWalServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/async-wal";

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
    throws IOException {
    HRegionServer server =
      (HRegionServer) getServletContext().getAttribute(HRegionServer.REGIONSERVER);
    if (!server.isOnline()) {
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE,
        "The RegionServer is initializing");
      return;
    }
    response.setContentType("application/json");
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    response.getWriter().write(AsyncWalSection.json(server.getConfiguration(),
      server.getServerName().toString(), System.currentTimeMillis()));
  }
}
