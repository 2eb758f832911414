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
package dev.stratum.jmh;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.childprocess.JvmCommand;
import java.io.File;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestSuiteProcess {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** Replaces the suite: ends with the code it is told, or starts a child and waits. */
  public static final class Suite {
    private Suite() {
    }

    public static void main(String[] args) throws Exception {
      Properties arguments = new Properties();
      try (Reader in = Files.newBufferedReader(Path.of(args[0]))) {
        arguments.load(in);
      }
      if (arguments.containsKey("code")) {
        System.exit(Integer.parseInt(arguments.getProperty("code")));
      }
      Path ready = Path.of(arguments.getProperty("ready"));
      if (args.length == 1) {
        new JvmCommand(Suite.class).arguments(args[0], "child").builder().start();
      } else {
        Files.createFile(ready);
      }
      Thread.sleep(TimeUnit.DAYS.toMillis(1));
    }
  }

  private SuiteProcess start(String key, String value) throws Exception {
    Properties arguments = new Properties();
    arguments.setProperty(key, value);
    List<File> classPath = Arrays
      .stream(System.getProperty("java.class.path").split(File.pathSeparator)).map(File::new)
      .toList();
    return new SuiteProcess(Suite.class.getName(), classPath, arguments,
      folder.getRoot().toPath().resolve("workloads"));
  }

  @Test
  public void testTheSuiteReadsItsArgumentsAndSaysHowItWent() throws Exception {
    try (SuiteProcess process = start("code", "3")) {
      assertEquals(3, process.await());
    }
  }

  @Test
  public void testClosingEndsTheSuiteAndWhatItHasStarted() throws Exception {
    Path ready = folder.getRoot().toPath().resolve("ready");
    List<ProcessHandle> processes;
    try (SuiteProcess process = start("ready", ready.toString())) {
      while (!Files.exists(ready)) {
        assertTrue("the suite ended", process.processes().get(0).isAlive());
        Thread.sleep(10);
      }
      processes = process.processes();
      assertEquals(2, processes.size());
    }
    for (ProcessHandle process : processes) {
      process.onExit().get(1, TimeUnit.MINUTES);
    }
  }
}
