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
package dev.stratum.fork.git;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import dev.stratum.fork.Repo;
import dev.stratum.fork.series.PatchFile;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Edits that only the exports for upstream have. */
public class TestUpstreamEdits {
  private static final String PROTO = "hbase-protocol-shaded/src/main/protobuf/Own.proto";
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
    repo.write(FILE, "Why.\n\n" + Repo.diff(PROTO, 1, "one\n", "one\ntwo\n")
      + Repo.diff(Repo.A, 6, "a 6\nseven\n", "a 6\nVII\n"));
    others.put(PROTO, Repo.bytes("one\n"));
    others.put("Other.proto", Repo.bytes("other\n"));
  }

  private UpstreamEdits edits() throws Exception {
    return UpstreamEdits.read(repo.root, repo.series(), others);
  }

  @Test
  public void testAllEditsAreMadeOrNone() throws Exception {
    PatchFile patch = repo.series().patches().get(0);
    SortedMap<String, byte[]> tree = new TreeMap<>(edits().files());
    assertEquals("those that are edited", Map.of(PROTO, "one\n"), Repo.text(tree));
    String before = "zero\n" + Repo.numbered("a", 30).replace("a 7\n", "seven\n");
    tree.put(Repo.A, Repo.bytes(before));
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      assertNull(edits().apply(store, patch, tree));
      assertEquals(Map.of(PROTO, "one\ntwo\n", Repo.A, before.replace("seven", "VII")),
        Repo.text(tree));
      assertEquals("without the file", PROTO, edits().apply(store, patch,
        new TreeMap<>(Map.of(Repo.A, Repo.bytes("seven\n")))));
      tree.put(PROTO, Repo.bytes("one\n"));
      assertEquals(Repo.A, edits().apply(store, patch, tree));
      assertEquals("one\n", Repo.text(tree).get(PROTO));
    }
  }

  @Test
  public void testEditsThatDoNotFitTheSeriesAreRefused() throws Exception {
    check();
    repo.write(FILE, Repo.diff(Repo.A, 7, "VII\n", "7\n"));
    Repo.assertRefused(this::check, FILE + " does not fit " + Repo.A);
    others.remove(PROTO);
    repo.write(FILE, Repo.diff(PROTO, 1, "one\n", "two\n"));
    Repo.assertRefused(this::check, FILE + " does not fit " + PROTO);
  }

  private void check() throws Exception {
    try (GitStore store = GitStore.inMemory(Repo.TIME)) {
      edits().check(store, repo.history());
    }
  }

  @Test
  public void testEditsOfNoPatchAreRefused() throws Exception {
    repo.write(UpstreamEdits.FOLDER + "HBASE-2-eight.patch", "");
    Repo.assertRefused(this::edits, "HBASE-2-eight.patch belongs to no patch");
  }
}
