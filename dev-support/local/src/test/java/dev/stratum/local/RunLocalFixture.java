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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.rules.TemporaryFolder;

/** Starts the program in a JVM of its own, as the script starts it, with free ports. */
public abstract class RunLocalFixture {
  static final long PATIENCE_SECONDS = 240;
  static final long PUBLICATION_SECONDS = 180;
  static final int TERMINATED = 143;

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  Path folder;
  Path output;
  int zooKeeperPort;
  Process process;

  @Before
  public void chooseFolder() throws Exception {
    folder = temporary.newFolder("a folder with spaces").toPath();
    zooKeeperPort = freePort();
  }

  /** Returns a free port below those that the system chooses for sockets without a port. */
  private static int freePort() {
    while (true) {
      int port = 20_000 + ThreadLocalRandom.current().nextInt(10_000);
      try (ServerSocket socket = new ServerSocket(port)) {
        return socket.getLocalPort();
      } catch (IOException e) {
        // The port is in use: try another one.
      }
    }
  }

  @After
  public void endProcess() throws Exception {
    if (process != null) {
      process.destroyForcibly().waitFor();
    }
  }

  static String get(String address) throws Exception {
    HttpResponse<String> page = HttpClient.newHttpClient().send(
      HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString());
    assertEquals(address, 200, page.statusCode());
    return page.body();
  }

  void start(boolean once, int rows, String... settings) throws Exception {
    start(List.of("-Xmx768m", "-XX:MaxDirectMemorySize=400m"), once, rows, settings);
  }

  void start(List<String> memory, boolean once, int rows, String... settings) throws Exception {
    output = temporary.newFile().toPath();
    Files.createDirectories(folder.resolve("logs"));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of(System.getProperty("stratum.jvm.opens").trim().split("\\s+")));
    // Most of a short run is start-up, which the second compiler only slows down; a third of it is
    // the verification of javac's classes.
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions",
      "-XX:-BytecodeVerificationRemote"));
    command.addAll(memory);
    // The RegionServer's pages are on the class path where run-local.sh has them.
    Path webapps = Path.of(System.getProperty("stratum.root"), "hbase-server/target/fork/webapps");
    command.addAll(List.of("-cp",
      System.getProperty("java.class.path") + File.pathSeparator + webapps,
      "-Dstratum.local.root=/", "-Dstratum.local.folder=" + folder, "-Dstratum.local.once=" + once,
      "-Dstratum.local.rows=" + rows, "-Dstratum.local.seconds=1", "-Dstratum.local.l1.mb=32",
      "-Dstratum.local.l2.mb=64", RunLocal.class.getName(),
      "hbase.localcluster.assign.random.ports=true",
      "hbase.zookeeper.property.clientPort=" + zooKeeperPort));
    command.addAll(List.of(settings));
    process = new ProcessBuilder(command).redirectErrorStream(true)
      .redirectOutput(output.toFile()).start();
  }

  void awaitOutput(String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!output().contains(text)) {
      assertTrue(output(), process.isAlive() && System.nanoTime() < deadline);
      Thread.sleep(50);
    }
  }

  int awaitEnd() throws Exception {
    assertTrue(output(), process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
    return process.exitValue();
  }

  String output() throws Exception {
    return Files.readString(output);
  }
}
