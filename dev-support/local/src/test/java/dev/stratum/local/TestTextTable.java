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
import static org.junit.Assert.assertThrows;

import org.junit.Test;

public class TestTextTable {
  @Test
  public void testColumnsAreAsWideAsTheirWidestCellAndFiguresEndTogether() {
    TextTable table = new TextTable("tier", "hits").row("L1", "7").row("L2 file", "12,345");
    assertEquals(String.format("  tier       hits%n" + "  L1            7%n"
      + "  L2 file  12,345%n"), table.toString());
  }

  @Test
  public void testRowWithAMissingCellIsRefused() {
    TextTable table = new TextTable("tier", "hits");
    assertThrows(IllegalArgumentException.class, () -> table.row("L1"));
  }
}
