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
import java.util.LinkedHashMap;
import java.util.Map;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;

/**
 * A page of a RegionServer or, with {@code ?format=json}, the same as JSON, whose format is in
 * docs/metrics.md: fields may be added, existing ones keep their names, units and meaning.
 * Accessible to the users of the RegionServer's status page.
 */
@InterfaceAudience.Private
abstract class StatusServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  /** A client that renders it as HTML by mistake shows text: Gson escapes what begins a tag. */
  private static final Gson JSON = new GsonBuilder().serializeNulls().create();

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
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    if ("json".equals(request.getParameter("format"))) {
      response.setContentType("application/json");
      response.getWriter().write(json(fields(server)));
      return;
    }
    response.setContentType("text/html");
    // The header of all other pages, so that this one changes with them.
    request.getRequestDispatcher("/header.jsp?pageTitle="
      + URLEncoder.encode("HBase Region Server: " + server.getServerName().getHostname(), "UTF-8"))
      .include(request, response);
    response.getWriter().write(page(server));
    request.getRequestDispatcher("/footer.jsp").include(request, response);
  }

  /** Returns what is between the header and the footer. */
  abstract String page(HRegionServer server);

  /** Returns the fields of the JSON. */
  abstract Map<String, Object> fields(HRegionServer server);

  static String json(Map<String, Object> fields) {
    return JSON.toJson(fields);
  }

  /** Returns the fields of an object: names, each followed by its value. */
  static Map<String, Object> fieldsOf(Object... namesAndValues) {
    Map<String, Object> fields = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }
}
