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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeSet;

/**
 * What a patch made of one file, with the whole content on both sides.
 * @param path   the path
 * @param before the content before, {@code null} for a new file
 * @param after  the content after, {@code null} for a deleted file
 */
public record FileChange(String path, byte[] before, byte[] after) {

  /** Returns what differs between two trees, in the order of the paths. */
  public static List<FileChange> between(SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
    TreeSet<String> paths = new TreeSet<>(before.keySet());
    paths.addAll(after.keySet());
    List<FileChange> changes = new ArrayList<>();
    for (String path : paths) {
      byte[] was = before.get(path);
      byte[] is = after.get(path);
      if (!Arrays.equals(was, is)) {
        changes.add(new FileChange(path, was, is));
      }
    }
    return changes;
  }
}
