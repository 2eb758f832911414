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

import dev.stratum.fork.Repo;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Test;

/** A style that is asked once for each content of a file. */
public class TestCachedStyle {
  private final List<String> asked = new ArrayList<>();
  private final LineExport.Style style = new CachedStyle((before, after) -> {
    SortedMap<String, byte[]> styled = new TreeMap<>(after);
    Repo.text(after).forEach((path, text) -> {
      if (!text.equals(Repo.text(before).get(path))) {
        asked.add(text);
        styled.put(path, Repo.bytes(text.toUpperCase(Locale.ROOT)));
      }
    });
    return styled;
  });

  private String styled(Map<String, String> before, Map<String, String> after) throws Exception {
    return Repo.text(style.apply(bytes(before), bytes(after))).toString();
  }

  private static SortedMap<String, byte[]> bytes(Map<String, String> text) {
    SortedMap<String, byte[]> bytes = new TreeMap<>();
    text.forEach((path, content) -> bytes.put(path, Repo.bytes(content)));
    return bytes;
  }

  @Test
  public void testEachContentIsStyledOnce() throws Exception {
    Map<String, String> before = Map.of("a", "one", "b", "two");
    assertEquals("{a=ONE!, b=two, c=NEW}", styled(before, Map.of("a", "one!", "b", "two", "c",
      "new")));
    assertEquals("{a=ONE!, b=TWO!, c=NEW}", styled(before, Map.of("a", "one!", "b", "two!", "c",
      "new")));
    assertEquals("{a=ONE?, b=two}", styled(before, Map.of("a", "one?", "b", "two")));
    assertEquals(List.of("one!", "new", "two!", "one?"), asked);
    // What a file was before is part of what is known of it.
    assertEquals("{a=ONE!}", styled(Map.of("a", "other"), Map.of("a", "one!")));
    assertEquals(5, asked.size());
  }
}
