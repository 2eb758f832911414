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
package org.apache.hadoop.hbase.regionserver;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerName;

/**
 * A RegionServer in a process of its own, which can be killed, for tests of what it leaves behind.
 * It tells its name and what else its class has to say, takes orders, and dies with the process
 * that started it. Thread-safe.
 */
public final class ServerProcess {
  private static final String NAME = "@name";
  /** Shows that a line is whole. */
  private static final String END = ".";

  private final Process process;
  private final Thread reader;
  private final CompletableFuture<ServerName> name = new CompletableFuture<>();
  private final Consumer<String[]> listener;

  private ServerProcess(Process process, Consumer<String[]> listener) {
    this.process = process;
    this.listener = listener;
    this.reader = new Thread(this::read, "reader of a RegionServer");
    reader.setDaemon(true);
    reader.start();
  }

  /**
   * Starts a server; its log is written to a file in {@code folder}.
   * @param main     whose main method calls {@link #serve}
   * @param listener is given the words of each line that the process has said by {@link #say}, by
   *                 one thread
   */
  public static ServerProcess start(Class<?> main, Configuration conf, File folder, String label,
    Consumer<String[]> listener) throws IOException {
    File site = new File(folder, label + ".xml");
    try (OutputStream out = new FileOutputStream(site)) {
      conf.writeXml(out);
    }
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-")) {
        command.add(argument);
      }
    }
    command.add("-Xmx512m");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:+UseSerialGC");
    // Verification is a third of what it takes to start one; javac's classes need no proof.
    command.add("-XX:+UnlockDiagnosticVMOptions");
    command.add("-XX:-BytecodeVerificationRemote");
    command.add("-Djava.net.preferIPv4Stack=true");
    command.add("-Djava.io.tmpdir=" + folder);
    command.add(main.getName());
    command.add(site.getPath());
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder)
      .redirectError(new File(folder, label + ".err"));
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    return new ServerProcess(builder.start(), listener);
  }

  private void read() {
    try (BufferedReader in = new BufferedReader(
      new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line; (line = in.readLine()) != null;) {
        String[] words = line.split(" ");
        if (!words[words.length - 1].equals(END)) {
          continue;
        }
        if (words[0].equals(NAME)) {
          name.complete(ServerName.valueOf(words[1]));
        } else {
          listener.accept(words);
        }
      }
    } catch (IOException e) {
      // The end of the process is the end of the stream.
    }
    name.completeExceptionally(new IOException("The server has ended"));
  }

  /** Returns the name of the server, as soon as it has one. */
  public CompletableFuture<ServerName> name() {
    return name;
  }

  /** Has the process run what its {@link #serve} was given, some time soon. */
  public void order() throws IOException {
    OutputStream orders = process.getOutputStream();
    orders.write(1);
    orders.flush();
  }

  /** Kills the process like kill -9. Returns when it has exited and all its output was read. */
  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
    reader.join();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** What a process is told to do. */
  public interface Order {
    void run(HRegionServer server) throws IOException;
  }

  /**
   * Starts a server in the process and returns when it is online.
   * @param args of the main method
   * @param order what to do each time that the process is told to
   */
  public static HRegionServer serve(String[] args, Order order)
    throws IOException, InterruptedException {
    Configuration conf = new Configuration();
    conf.addResource(new File(args[0]).toURI().toURL());
    HRegionServer server = new HRegionServer(conf);
    Thread orders = new Thread(() -> obey(server, order), "orders");
    orders.setDaemon(true);
    orders.start();
    server.start();
    while (server.isAlive() && !server.isOnline()) {
      Thread.sleep(10);
    }
    say(NAME, server.getServerName());
    return server;
  }

  /** Prints words without spaces to the parent process. Called in the child process. */
  public static void say(Object... words) {
    StringBuilder line = new StringBuilder();
    for (Object word : words) {
      line.append(word).append(' ');
    }
    System.out.println(line.append(END));
    System.out.flush();
  }

  private static void obey(HRegionServer server, Order order) {
    try {
      while (System.in.read() >= 0) {
        order.run(server);
      }
    } catch (IOException e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(2);
  }
}
