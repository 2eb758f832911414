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

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import org.junit.Test;

public class TestOutOfMemoryReport {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final OutOfMemoryReport report =
    new OutOfMemoryReport(new PrintStream(out), "/logs/run.log", 512, 300);

  private void assertReported(Throwable thrown, String... words) {
    report.report(thrown);
    for (String word : words) {
      assertTrue(word + " in " + out, out.toString().contains(word));
    }
  }

  @Test
  public void testHeapIsReportedWithKeysAndLog() {
    assertReported(new IOException("a call", new OutOfMemoryError("Java heap space")),
      "run-local: A server has run out of memory: Java heap space. -Xmx is 512 MB;",
      "hbase.bucketcache.l2.size, --l2-mb", "HBASE_OPTS=-Xmx1024m",
      "run-local: the log is /logs/run.log");
  }

  @Test
  public void testDirectMemoryIsReportedWithItsKeys() {
    assertReported(new OutOfMemoryError("Cannot reserve 65536 bytes of direct buffer memory"),
      "-XX:MaxDirectMemorySize is 300 MB;", "hbase.bucketcache.l1.size, --l1-mb",
      "HBASE_OPTS=-XX:MaxDirectMemorySize=600m");
  }

  @Test
  public void testThreadsAreReportedWithTheirLimit() {
    assertReported(new OutOfMemoryError("unable to create native thread"), "ulimit -u");
  }

  @Test
  public void testOnlyTheFirstErrorIsReported() {
    report.report(null);
    report.report(new IOException("disk"));
    assertEquals("", out.toString());
    report.report(new OutOfMemoryError("Java heap space"));
    String first = out.toString();
    report.report(new OutOfMemoryError("Java heap space"));
    assertEquals(first, out.toString());
  }
}
