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
package dev.stratum.fork.style;

import static org.junit.Assert.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Test;

/** The words that an export must not have, and the lines that are looked at. */
public class TestProjectWords {
  private final SortedMap<String, byte[]> before = new TreeMap<>();
  private final SortedMap<String, byte[]> after = new TreeMap<>();

  private List<String> found() {
    return ProjectWords.in(before, after).stream().map(Object::toString).toList();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  public void testNamesFileAndLine() {
    after.put("x/Stratum.java",
      bytes("class A {\n  // In the fork\n  ForkJoinPool a;\n  dev.stratum.B b;\n}"));
    assertEquals(
      List.of("x/Stratum.java:1: Stratum", "x/Stratum.java:2: the fork",
        "x/Stratum.java:4: stratum"),
      found());
  }

  @Test
  public void testUpstreamsOwnLinesAndUnchangedFiles() {
    before.put("a", bytes("the fork\nb\n"));
    after.put("a", bytes("the fork\nc\n"));
    before.put("b", bytes("STRATUM\n"));
    after.put("b", bytes("STRATUM\n"));
    assertEquals(List.of(), found());
    after.put("a", bytes("the fork\nthis fork\n"));
    assertEquals(List.of("a:2: this fork"), found());
  }

  @Test
  public void testEmptyTree() {
    assertEquals(List.of(), found());
  }
}
