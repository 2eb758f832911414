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
package dev.stratum.fork.series;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Edits that only the exports for upstream have. */
public class TestUpstreamEdits {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final String PROTO = "hbase-protocol-shaded/src/main/protobuf/Own.proto";
  private static final String TEST = Repo.TESTS + "TestOwn.java";
  private static final String FILE = UpstreamEdits.FOLDER + "HBASE-1-seven.patch";

  @Rule
  public final Repo repo = new Repo();
  private final SortedMap<String, byte[]> others = new TreeMap<>();

  @Before
  public void setUp() throws Exception {
    repo.checkout();
    repo.edit(Repo.A, "a 7\n", "seven\n");
    repo.commit("HBASE-1 Seven", "", "JIRA: HBASE-1");
    repo.rebuild();
    repo.write(FILE, "Why.\n\n" + Repo.diff(PROTO, "one\n", "one\ntwo\n")
      + Repo.diff(Repo.A, "seven\n", "VII\n"));
    others.put(PROTO, Repo.bytes("one\n"));
    others.put("Other.proto", Repo.bytes("other\n"));
  }

  private UpstreamEdits edits() throws Exception {
    return UpstreamEdits.read(repo.root, repo.series(), others);
  }

  @Test
  public void testAllEditsAreMadeOrNone() throws Exception {
    PatchFile patch = repo.series().patches().get(0);
    SortedMap<String, byte[]> tree = new TreeMap<>(others);
    tree.put(Repo.A, Repo.bytes("six\nseven\n"));
    assertNull(edits().apply(patch, tree));
    assertEquals(Map.of(PROTO, "one\ntwo\n", Repo.A, "six\nVII\n", "Other.proto", "other\n"),
      Repo.text(tree));
    assertEquals("without the file", PROTO, edits().apply(patch, new TreeMap<>(Map.of(Repo.A,
      Repo.bytes("seven\n")))));
    tree.put(PROTO, Repo.bytes("one\n"));
    assertEquals(Repo.A, edits().apply(patch, tree));
    assertEquals("one\n", Repo.text(tree).get(PROTO));
  }

  @Test
  public void testFilesAreThoseThatAreEdited() throws Exception {
    assertEquals(Map.of(PROTO, "one\n"), Repo.text(edits().files()));
    UpstreamEdits undone = edits().undone();
    assertEquals(Map.of(PROTO, "one\n"), Repo.text(undone.files()));
    assertTrue(edits().has(repo.series().patches().get(0)));
    assertFalse(undone.has(repo.series().patches().get(0)));
  }

  @Test
  public void testDiffForAPageLacksTests() throws Exception {
    PatchFile patch = repo.series().patches().get(0);
    String main = Repo.diff(PROTO, "one\n", "one\ntwo\n");
    String test = Repo.diff(TEST, "one\n", "two\n");
    repo.write(FILE, "Why.\n" + main + test + main.replace("Own.proto", "Z.proto"));
    assertEquals(main + main.replace("Own.proto", "Z.proto"), edits().mainDiff(patch));
    repo.write(FILE, main + test);
    assertEquals(main, edits().mainDiff(patch));
    repo.write(FILE, test);
    assertNull(edits().mainDiff(patch));
    assertNull(UpstreamEdits.NONE.mainDiff(patch));
  }

  @Test
  public void testEditsThatDoNotFitTheSeriesAreRefused() throws Exception {
    edits().check(repo.history());
    repo.write(FILE, Repo.diff(Repo.A, "VII\n", "7\n"));
    Repo.assertRefused(() -> edits().check(repo.history()), FILE + " does not fit " + Repo.A);
    others.remove(PROTO);
    repo.write(FILE, Repo.diff(PROTO, "one\n", "two\n"));
    Repo.assertRefused(() -> edits().check(repo.history()), FILE + " does not fit " + PROTO);
  }

  @Test
  public void testEditsOfNoPatchAreRefused() throws Exception {
    repo.write(UpstreamEdits.FOLDER + "HBASE-2-eight.patch", "");
    Repo.assertRefused(this::edits, "HBASE-2-eight.patch belongs to no patch");
  }

  /** Those of this repository declare a field. */
  @Test
  public void testChecksumOfACacheEntryIsADeclaredField() throws Exception {
    Series series = Series.read(ROOT);
    String diff = UpstreamEdits.read(ROOT, series, others)
      .mainDiff(series.named("STRATUM-entry-checksum").get(0));
    assertTrue(diff, diff.contains("\n+  optional fixed32 checksum = 3;\n"));
    assertTrue(diff, diff.contains("\n+    return persisted.hasChecksum()"));
  }
}
