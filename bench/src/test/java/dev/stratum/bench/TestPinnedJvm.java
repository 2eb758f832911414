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
package dev.stratum.bench;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

public class TestPinnedJvm {
  private static final Pattern OPENED = Pattern.compile("--add-(?:opens|exports)[ =](\\S+)");

  @Test
  public void testItOpensWhatTheTestsOpen() {
    String pinned = String.join(" ", PinnedJvm.class.getAnnotation(Fork.class).jvmArgs());
    assertEquals(opened(System.getProperty("test.jvm.opens")), opened(pinned));
  }

  private static TreeSet<String> opened(String arguments) {
    TreeSet<String> opened = new TreeSet<>();
    Matcher matcher = OPENED.matcher(arguments);
    while (matcher.find()) {
      opened.add(matcher.group(1));
    }
    return opened;
  }

  @Test
  public void testEveryBenchmarkRunsInIt() throws Exception {
    OutputFormat quiet = OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT);
    for (BenchmarkListEntry entry : BenchmarkList.defaultList().getAll(quiet, List.of())) {
      assertTrue(entry.getUserClassQName(),
        PinnedJvm.class.isAssignableFrom(Class.forName(entry.getUserClassQName())));
    }
  }

  /** These tests run once per side: this one shows that the sides are what they are meant to. */
  @Test
  @Category(LargeTests.class)
  public void testTheJarsAreThoseOfTheSideUnderTest() {
    assertEquals(System.getProperty("expected.version"), VersionInfo.getVersion());
  }
}
