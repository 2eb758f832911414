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
package dev.stratum.fork.pages;

import static org.junit.Assert.assertEquals;

import org.junit.Test;

/** Lines that are tried again, and others that are not. */
public class TestLineTables {
  private static final String TABLE = """
    | patch | 2.6.4 | 3.0.0 |
    |---|---|---|
    | *tried on* | Monday | Monday |
    | one | applies | conflicts (1) |
    | old | applies | applies |
    """;

  @Test
  public void testOtherLinesKeepTheirColumns() {
    String now = """
      | patch | 3.0.0 |
      |---|---|
      | *tried on* | Tuesday |
      | new | already upstream |
      | one | applies, compiles |
      """;
    assertEquals("""
      | patch | 2.6.4 | 3.0.0 |
      |---|---|---|
      | *tried on* | Monday | Tuesday |
      | new | not run | already upstream |
      | one | applies | applies, compiles |
      """, LineTables.mergeTables("text\n\n" + TABLE + "\n", now));
  }

  @Test
  public void testAnotherLineIsTheLastColumn() {
    String now = """
      | patch | 2.7.0 |
      |---|---|
      | *tried on* | Tuesday |
      | one | applies |
      """;
    assertEquals("""
      | patch | 2.6.4 | 3.0.0 | 2.7.0 |
      |---|---|---|---|
      | *tried on* | Monday | Monday | Tuesday |
      | one | applies | conflicts (1) | applies |
      """, LineTables.mergeTables(TABLE, now));
  }

  @Test
  public void testFirstTable() {
    assertEquals(TABLE, LineTables.mergeTables("\nnone\n", TABLE));
    assertEquals(TABLE, LineTables.mergeTables(TABLE, TABLE));
  }

  @Test
  public void testOtherLinesKeepTheirSections() {
    String before = "# Title\n\nOld.\n\n## 2.6.4\n\n- a\n\n## 3.0.0\n\n- b\n";
    assertEquals("# Title\n\nNew.\n\n## 2.6.4\n\n- a\n\n## 3.0.0\n\n- c\n\n## 4\n\n- d\n",
      LineTables.mergeSections(before,
        "# Title\n\nNew.\n\n## 3.0.0\n\n- c\n\n## 4\n\n- d\n"));
  }
}
