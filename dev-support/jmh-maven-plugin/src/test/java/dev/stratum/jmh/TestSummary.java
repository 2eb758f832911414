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
import static org.junit.Assert.assertFalse;

import java.io.IOException;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Test;

public class TestSummary {
  @Test
  public void testItHoldsEveryJvmsFigureInFourDigits() throws IOException {
    JsonObject summary = JsonParser
      .parseString(Summary.json(Samples.comparison(), "2-fork", "2", "mvn jmh:run", "today"))
      .getAsJsonObject();
    assertEquals("mvn jmh:run", summary.get("command").getAsString());
    JsonArray results = summary.getAsJsonArray("results");
    assertEquals(6, results.size());
    JsonObject hit = results.get(0).getAsJsonObject();
    assertEquals("[29.51,21.23]", hit.get("stock").toString());
    assertEquals("[10.69,23.51]", hit.get("fork").toString());
    assertEquals("[9100,9135]", hit.get("forkBytesPerOp").toString());
    assertEquals(1.579, hit.get("ratio").getAsDouble(), 1e-3);
    assertFalse(results.get(1).getAsJsonObject().has("stock"));
    assertEquals("max", results.get(5).getAsJsonObject().get("figure").getAsString());
  }

  @Test
  public void testAResultIsALine() throws IOException {
    String json = Summary.json(Samples.comparison(), "2-fork", "2", "mvn jmh:run", "today");
    assertEquals(6, json.lines().filter(line -> line.startsWith("    {\"benchmark\":")).count());
  }
}
