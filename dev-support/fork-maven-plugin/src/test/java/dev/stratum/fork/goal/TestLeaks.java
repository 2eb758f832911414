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
package dev.stratum.fork.goal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The leak detector's reports in the logs of tests. */
public class TestLeaks {
  private static final String BEGIN =
    "2026-01-31 10:00:00,000 INFO  [main] x.Y (Y.java:1) - begin\n";
  private static final String LEAK =
    "2026-01-31 10:00:01,000 ERROR [main] util.ResourceLeakDetector"
    + " (ResourceLeakDetector.java:337) - LEAK: RefCnt.release() was not called before it's"
    + " garbage-collected. See https://netty.io/wiki/reference-counted-objects.html\n"
    + "Recent access records: \n#1:\n"
    + "\torg.apache.hadoop.hbase.io.hfile.bucket.BucketEntry.<init>(BucketEntry.java:1)\n"
    + "Created at:\n\torg.apache.hadoop.hbase.nio.RefCnt.<init>(RefCnt.java:59)\n"
    + "\torg.apache.hadoop.hbase.nio.RefCnt.create(RefCnt.java:54)\n";
  private static final String BUFFER =
    "\torg.apache.hadoop.hbase.nio.ByteBuff.wrap(ByteBuff.java:581)\n";
  private static final String ENTRY =
    "\torg.apache.hadoop.hbase.io.hfile.bucket.BucketEntry.<init>(BucketEntry.java:129)\n";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private List<String> leaks(String log) throws Exception {
    Path reports = folder.getRoot().toPath();
    Files.writeString(reports.resolve("org.x.TestY-output.txt"), log);
    return LeaksMojo.leaks(reports, list("* | bucket.BucketEntry.<init> | cache was shut down"));
  }

  private Path list(String... lines) throws Exception {
    return Files.write(folder.newFolder().toPath().resolve("expected.txt"), List.of(lines));
  }

  @Test
  public void testLeakedBufferIsReportedWithItsTestAndItsCreation() throws Exception {
    List<String> leaks = leaks(BEGIN + LEAK + BUFFER + BEGIN + BEGIN + LEAK + BUFFER);
    assertEquals(2, leaks.size());
    assertTrue(leaks.get(0), leaks.get(0).startsWith("org.x.TestY leaked"));
    assertTrue(leaks.get(0), leaks.get(0).contains("ByteBuff.wrap(ByteBuff.java:581)"));
  }

  @Test
  public void testReportWithoutACreationIsReportedToo() throws Exception {
    assertEquals(1, leaks(BEGIN + "ERROR LEAK: RefCnt.release() was not called").size());
  }

  @Test
  public void testWhatIsExpectedOfAllIsPassedOver() throws Exception {
    assertEquals(List.of(), leaks(BEGIN + LEAK + ENTRY + BUFFER + BEGIN));
  }

  @Test
  public void testLogsWithoutReportAndAModuleWithoutTestsPass() throws Exception {
    assertEquals(List.of(), leaks(BEGIN + BEGIN));
    assertEquals(List.of(), LeaksMojo.leaks(folder.getRoot().toPath().resolve("none"), list()));
  }

  @Test
  public void testWhatIsExpectedOfATestIsNotOfOthers() throws Exception {
    Path reports = folder.getRoot().toPath();
    for (String test : List.of("TestY", "TestZ")) {
      Files.writeString(reports.resolve("org.x." + test + "-output.txt"), BEGIN + LEAK + BUFFER);
    }
    List<String> leaks =
      LeaksMojo.leaks(reports, list("# reasons", "", "TestY | ByteBuff.wrap | means to leak"));
    assertEquals(1, leaks.size());
    assertTrue(leaks.get(0), leaks.get(0).startsWith("org.x.TestZ leaked"));
  }

  @Test
  public void testLineWithoutAReasonStopsTheBuild() throws Exception {
    for (String line : List.of("TestY | ByteBuff.wrap", "TestY | ByteBuff.wrap |", "TestY")) {
      ForkException e = assertThrows(ForkException.class,
        () -> LeaksMojo.leaks(folder.getRoot().toPath(), list(line)));
      assertTrue(e.getMessage(), e.getMessage().contains("\"" + line + "\""));
    }
  }
}
