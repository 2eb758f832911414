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

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * {@code /async-wal} of a RegionServer: the writes that a crash would lose, per WAL, as a page
 * or, with {@code ?format=json}, as JSON. Accessible to the users of the RegionServer's status
 * page.
 */
@InterfaceAudience.Private
public class AsyncWalServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/async-wal";

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
    throws ServletException, IOException {
    HRegionServer server =
      (HRegionServer) getServletContext().getAttribute(HRegionServer.REGIONSERVER);
    if (!server.isOnline()) {
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE,
        "The RegionServer is initializing");
      return;
    }
    String name = server.getServerName().toString();
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    if ("json".equals(request.getParameter("format"))) {
      response.setContentType("application/json");
      response.getWriter().write(AsyncWalSection.json(server.getConfiguration(), name,
        System.currentTimeMillis()));
      return;
    }
    response.setContentType("text/html");
    // The header of all other pages, so that this one changes with them.
    request.getRequestDispatcher("/header.jsp?pageTitle="
      + URLEncoder.encode("HBase Region Server: " + server.getServerName().getHostname(), "UTF-8"))
      .include(request, response);
    response.getWriter().write(AsyncWalSection.page(server.getConfiguration(), name));
    request.getRequestDispatcher("/footer.jsp").include(request, response);
  }
}
