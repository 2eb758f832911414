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

import dev.stratum.fork.diff.PatchApplier;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A style that gives a file its form once. Exports of a series have most of their files in common,
 * each with the patches before it.
 */
public final class CachedStyle implements LineExport.Style {
  private final LineExport.Style style;
  private final Map<String, byte[]> known = new HashMap<>();

  /** Keeps what {@code style} returns. */
  public CachedStyle(LineExport.Style style) {
    this.style = style;
  }

  @Override
  public SortedMap<String, byte[]> apply(SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) throws IOException {
    Map<String, String> keys = new TreeMap<>();
    SortedMap<String, byte[]> unchanged = new TreeMap<>(before);
    boolean all = true;
    for (Map.Entry<String, byte[]> file : after.entrySet()) {
      byte[] old = before.get(file.getKey());
      if (old != file.getValue() && !Arrays.equals(old, file.getValue())) {
        String key = file.getKey() + ' ' + (old == null ? "" : PatchApplier.blobId(old)) + ' '
          + PatchApplier.blobId(file.getValue());
        keys.put(file.getKey(), key);
        if (known.containsKey(key)) {
          unchanged.put(file.getKey(), file.getValue());
        } else {
          all = false;
        }
      }
    }
    SortedMap<String, byte[]> styled =
      new TreeMap<>(all ? after : style.apply(unchanged, after));
    keys.forEach((path, key) -> {
      byte[] content = known.get(key);
      if (content == null) {
        known.put(key, styled.get(path));
      } else {
        styled.put(path, content);
      }
    });
    return styled;
  }
}
