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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.Repo;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.Rule;
import org.junit.Test;

public class TestFeatureTable {
  private static final String MAIN = "hbase-server/src/main/java/org/apache/hadoop/hbase/";

  @Rule
  public final Repo repo = new Repo();

  private void patch(String name, String feature, String jira, String adds) throws Exception {
    repo.patch(name, Map.of("Feature", feature, "JIRA", jira, "Adds", adds), "");
  }

  private byte[] page() throws Exception {
    return FeatureTable.page(repo.series(), repo.root);
  }

  @Test
  public void testRowsFollowTheHeaders() throws Exception {
    repo.write("docs/row-cache.md", "See `RowsBenchmark`, RowsBenchmark and OtherBenchmark.\n");
    repo.write("bench/src/main/java/x/RowsBenchmark.java", "");
    repo.write(MAIN + "a/b/One.java", "");
    repo.write(MAIN + "Two.java", "");
    repo.write(Repo.TESTS + "TestOne.java", "");
    patch("STRATUM-defect.patch", "fix", "HBASE-7", "");
    patch("HBASE-1-rows.patch", "row-cache", "HBASE-1", MAIN + "a/b/One.java");
    patch("STRATUM-tools.patch", "tools", "none yet",
      MAIN + "Two.java " + Repo.TESTS + "TestOne.java");
    patch("STRATUM-more-rows.patch", "row-cache", "none yet", "");
    repo.write("CONTRIBUTING.md",
      "head\n" + FeatureTable.BEGIN + "old\n" + FeatureTable.END + "tail\n");
    assertEquals("head\n" + FeatureTable.BEGIN + "\n"
      + "| feature | JIRA | patches | packages | benchmarks |\n|---|---|---|---|---|\n"
      + "| tools |  | [STRATUM-tools](patches/STRATUM-tools.patch) |  |  |\n"
      + "| [row-cache](docs/row-cache.md) | "
      + "[HBASE-1](https://issues.apache.org/jira/browse/HBASE-1) | "
      + "2 in [patches/series](patches/series) | `a.b` | `RowsBenchmark` |\n"
      + "| fixes of the base | [HBASE-7](https://issues.apache.org/jira/browse/HBASE-7) | "
      + "1 in [patches/series](patches/series) |  | |\n\n" + FeatureTable.END + "tail\n",
      new String(page(), StandardCharsets.UTF_8));
  }

  @Test
  public void testPageWithoutMarkers() throws Exception {
    assertNull(page());
    repo.write("CONTRIBUTING.md", "text\n");
    assertNull(page());
    repo.write("CONTRIBUTING.md", FeatureTable.BEGIN);
    assertThrows(ForkException.class, this::page);
  }
}
