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
package dev.stratum.bench.allocation;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.Conversation;
import dev.stratum.childprocess.JvmCommand;
import dev.stratum.childprocess.ProcessException;
import dev.stratum.processes.LoopbackHdfs;
import java.io.Closeable;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * HDFS in a process of its own, with one DataNode, so that what its servers allocate is not counted
 * with what the client does in the measured JVM. It ends with this JVM, however that ends. Not
 * thread-safe.
 */
final class HdfsProcess implements Closeable {
  /** Options that JVMs of tests have, and those that are measured have not. */
  private static final List<String> SHORT_LIVED =
    List.of("-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions",
      "-XX:-BytecodeVerificationRemote", "-XX:+UseSerialGC");

  /** HDFS, which is set only in the child process and ends with it. */
  private static LoopbackHdfs hdfs;

  private final Path folder;
  private final ChildProcess process;

  /**
   * Starts it, and makes it the file system of {@code conf}.
   * @throws IOException if it does not start; names its log
   */
  HdfsProcess(Configuration conf) throws IOException {
    folder = Files.createTempDirectory("stratum-bench");
    process = new ChildProcess("HDFS",
      new JvmCommand(HdfsProcess.class).options(options()).tmpDir(folder),
      folder.resolve("hdfs.log"));
    try {
      conf.set(FileSystem.FS_DEFAULT_NAME_KEY,
        process.ask(ChildProcess.request("start")).getAsString());
    } catch (ProcessException e) {
      process.close();
      throw new IOException(e.getMessage(), e);
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private static List<String> options() {
    List<String> options = new ArrayList<>();
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      // With these options the process of a test starts as fast as the test's own JVM.
      if (
        argument.startsWith("--add-") || argument.startsWith("-Dlog4j")
          || SHORT_LIVED.contains(argument)
      ) {
        options.add(argument);
      }
    }
    options.add("-Xmx384m");
    options.add("-Djava.net.preferIPv4Stack=true");
    return options;
  }

  /** Ends it and removes its files. */
  @Override
  public void close() throws IOException {
    process.close();
    LoopbackHdfs.removeAbandoned();
    FileUtils.deleteDirectory(folder.toFile());
  }

  /** Runs HDFS until standard input ends; answers the first request with its address. */
  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(HdfsProcess::start);
  }

  private static JsonElement start(JsonObject request, Conversation conversation)
    throws IOException {
    Configuration conf = new Configuration();
    hdfs = new LoopbackHdfs(conf, 1);
    return new JsonPrimitive(conf.get(FileSystem.FS_DEFAULT_NAME_KEY));
  }
}
