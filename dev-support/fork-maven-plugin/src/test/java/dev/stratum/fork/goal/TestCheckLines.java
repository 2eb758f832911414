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
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.check.StateCheck;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.git.LineExport;
import dev.stratum.fork.git.UpstreamEdits;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.LineVariants;
import dev.stratum.fork.series.Modules;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** How patches fare on another line, with own classes that compile on a plain JDK. */
@Category(LargeTests.class)
public class TestCheckLines {
  private static final String OLD = Repo.JAVA + "Old.java";

  @Rule
  public final Repo repo = new Repo();
  private final SortedMap<String, byte[]> line = new TreeMap<>();

  @Before
  public void setUp() throws Exception {
    repo.base(OLD, "class Old {\n  int a;\n\n\n\n\n}\n");
    repo.checkout();
    line.putAll(repo.base);
  }

  private void line(String path, String from, String to) {
    String text = Repo.text(line).get(path);
    line.put(path, Repo.bytes(text.replace(from, to)));
  }

  private String said(String name) throws Exception {
    repo.rebuild();
    ForkHistory history = repo.history();
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      LineExport export =
        new LineExport(store, history, new LineSources("3.1.0", Set.copyOf(Modules.ALL), line),
          new LineVariants("3.1.0", line, Map.of()), UpstreamEdits.NONE, GitStore.STRATUM,
          Repo.TIME);
      try (StateCheck states = new StateCheck(export.plain(), repo.newFolder(), List.of(),
        StateCheck.RELEASE, null)) {
        return CheckLinesMojo.said(export.export(history.series().named(name).get(0)), states);
      }
    }
  }

  @Test
  public void testExportIsCompiledWithItsNeeds() throws Exception {
    repo.edit(Repo.JAVA + "One.java", "class One { }\n");
    repo.commit("HBASE-1 One");
    repo.edit(Repo.JAVA + "Two.java", "class Two { One one; }\n");
    repo.commit("HBASE-2 Two", "", "Needs: HBASE-1");
    repo.edit(Repo.JAVA + "Three.java", "class Three { One one; }\n");
    repo.commit("HBASE-3 Three");
    assertEquals("compiles", said("HBASE-2-two"));
    assertEquals("does not compile: " + Repo.JAVA + "Three.java:1: cannot find symbol symbol: "
      + "class One location: class Three", said("HBASE-3-three"));
  }

  @Test
  public void testConflictIsToldWithItsPlaceAndWhatNeedsItWaits() throws Exception {
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven");
    repo.edit(Repo.JAVA + "Two.java", "class Two { }\n");
    repo.commit("HBASE-2 Two", "", "Needs: HBASE-1");
    repo.edit(OLD, "  int a;\n", "  int b;\n");
    repo.commit("HBASE-3 Old", "", "Upstream: in 3.0.1, 3.1.0 and 4.0.0 (PR 1)");
    line(Repo.A, "a 1\n", "new\na 1\n");
    line(Repo.A, "a 7\n", "VII\n");
    assertEquals("conflicts: patches/HBASE-1-seven.patch conflicts with 3.1.0 in " + Repo.A
      + ":8; write its edits for that version as patches/lines/3.1.0/HBASE-1-seven.patch.",
      said("HBASE-1-seven"));
    String said = said("HBASE-2-two");
    assertTrue(said,
      said.startsWith("waits: patches/HBASE-1-seven.patch, which HBASE-2-two needs"));
    assertEquals("already upstream", said("HBASE-3-old"));
  }

  /** What replaces a jar that is not published may lack what the line's own files need. */
  @Test
  public void testFileThatDoesNotCompileWithoutThePatchEitherSaysNothing() throws Exception {
    repo.edit(OLD, "  int a;\n", "  int a;\n  int b;\n");
    repo.commit("HBASE-1 Old");
    assertEquals("compiles", said("HBASE-1-old"));
    line(OLD, "}\n", "  Nowhere c;\n}\n");
    String said = said("HBASE-1-old");
    assertTrue(said, said.startsWith("not compiled: " + OLD + ":8: cannot find symbol"));
  }
}
