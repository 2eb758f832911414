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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import picocli.CommandLine;

public class TestRunLocalArguments {
  private static final String USAGE = "usage: dev-support/run-local.sh [--once] [--rows N]"
    + " [--l1-mb N] [--l2-mb N] [-Dkey=value ...]";

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  @Test
  public void testWrongArgumentGivesTheReasonAndAUsageLineAndTouchesNothing() {
    refused("'x' is not an int", "--rows", "x");
    refused("0 is less than 1", "--rows", "0");
    refused("-1 is less than 1", "--rows", "-1");
    refused("8 is less than 32", "--l1-mb", "8");
    refused("8 is less than 32", "--l2-mb", "8");
    refused("Missing required parameter", "--rows");
    refused("should be in KEY=VALUE format but was key", "-Dkey");
    refused("Unknown option", "--twice");
    refused("Unmatched argument", "usertable");
  }

  private void refused(String reason, String... wrong) {
    Path folder = temporary.getRoot().toPath().resolve("none");
    String[] args = new String[wrong.length + 2];
    args[0] = "--folder";
    args[1] = folder.toString();
    System.arraycopy(wrong, 0, args, 2, wrong.length);
    StringWriter err = new StringWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CommandLine program = RunLocal.commandLine(new RunLocal(new PrintStream(out), false));
    assertEquals(RunLocal.WRONG_ARGUMENTS,
      program.setErr(new PrintWriter(err, true)).execute(args));
    String[] lines = err.toString().split("\\R");
    assertEquals(err.toString(), 2, lines.length);
    assertTrue(lines[0], lines[0].startsWith("run-local: ") && lines[0].contains(reason));
    assertEquals(USAGE, lines[1]);
    assertEquals("", out.toString());
    assertFalse(Files.exists(folder));
  }
}
