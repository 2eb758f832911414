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

import java.util.List;

/**
 * What a patch does to one file: the section that begins with {@code diff --git}.
 * @param kind     what becomes of the file
 * @param oldPath  the path before, {@code null} for a new file
 * @param newPath  the path after, {@code null} for a deleted file
 * @param oldBlob  the (abbreviated) git blob id of the file before, {@code null} if not stated
 * @param hunks    the changes of content, in order
 * @param line     where the section begins in the patch file, from 1
 * @param section  the section's bytes as they stand in the patch file
 */
public record FileEdit(Kind kind, String oldPath, String newPath, String oldBlob, List<Hunk> hunks,
  int line, byte[] section) {

  /** What becomes of a file. */
  public enum Kind {
    ADD,
    MODIFY,
    RENAME,
    DELETE
  }

  /** Returns the path after the edit, or before it if the file is deleted. */
  public String path() {
    return newPath != null ? newPath : oldPath;
  }
}
