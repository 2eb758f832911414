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
package dev.stratum.dist;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A process in place of a RegionServer: answers at /jmx with the beans that tell which jars it was
 * started with, with the number of regions and of requests that files of its folder, regions and
 * requests, have, and with the size of its block cache, which is 0 for the base where a file,
 * no-cache, exists. Where idle exists, the fork has no requests. Ends when stop exists, or when the
 * folder is gone.
 */
public final class InfoServer {
  private InfoServer() {
  }

  private static String number(Path file) throws IOException {
    return Files.exists(file) ? Files.readString(file).trim() : "0";
  }

  private static String serving(Path home, boolean fork) throws IOException {
    boolean idle = fork && Files.exists(home.resolve("idle"));
    String requests = idle ? "0" : number(home.resolve("requests"));
    // A cache that has just started is empty.
    int free = fork || !Files.exists(home.resolve("no-cache")) ? 4096 : 0;
    return "{ \"beans\" : [ {\n  \"blockCacheSize\" : 0,\n  \"blockCacheFreeSize\" : " + free
      + ",\n  \"regionCount\" : " + number(home.resolve("regions"))
      + ",\n  \"readRequestRatePerSecond\" : " + requests + ".5,\n  \"readRequestCount\" : "
      + requests + ",\n  \"writeRequestRatePerSecond\" : 0.0,\n  \"writeRequestCount\" : 0"
      + "\n} ] }\n";
  }

  /** @param args the folder of HBase, the version of the base, and that of the fork */
  public static void main(String[] args) throws Exception {
    Path home = Path.of(args[0]);
    Path lib = home.resolve("lib");
    StringBuilder beans = new StringBuilder("{\"beans\": [ {\n");
    String server = Files.readString(lib.resolve("hbase-server-" + args[1] + ".jar"));
    boolean fork = server.startsWith(args[2]);
    if (fork) {
      beans.append("\"Version\": \"" + args[2] + "\",\n");
      for (String module : Dropin.MODULES) {
        String name = module.substring(0, 1).toUpperCase() + module.substring(1);
        beans.append("\"" + name + "Build\": \"" + args[2] + " abc\",\n\"" + name + "Jar\": \""
          + lib.resolve("hbase-" + module + "-" + args[1] + ".jar") + "\",\n");
      }
    }
    beans.append("\"x\": 1 } ] }\n");
    HttpServer http =
      HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    http.createContext("/jmx", exchange -> {
      String query = exchange.getRequestURI().getQuery();
      byte[] answer = (query.contains("sub=Server") ? serving(home, fork) : beans.toString())
        .getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(200, answer.length);
      try (var body = exchange.getResponseBody()) {
        body.write(answer);
      } catch (IOException e) {
        // The client has gone.
        exchange.close();
      }
    });
    http.start();
    Path port = home.resolve("port.new");
    Files.writeString(port, String.valueOf(http.getAddress().getPort()));
    Files.move(port, home.resolve("port"));
    while (Files.exists(home) && !Files.exists(home.resolve("stop"))) {
      Thread.sleep(20);
    }
    http.stop(0);
    Files.deleteIfExists(home.resolve("port"));
  }
}
