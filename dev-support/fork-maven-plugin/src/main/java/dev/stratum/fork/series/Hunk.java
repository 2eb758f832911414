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
 * One hunk of a unified diff: at {@code oldStart} the lines {@code oldLines} become
 * {@code newLines}. The starts are as the diff states them: 1 for the first line, and for an empty
 * side the line that the hunk follows. Lines keep their terminators. Context lines, where a
 * diff has them, are part of both sides.
 * @param patchLine where the hunk's header stands in the patch file, from 1
 * @param context   how many of the lines are context
 */
public record Hunk(int patchLine, int oldStart, List<byte[]> oldLines, int newStart,
  List<byte[]> newLines, int context) {

  /** Returns how many lines of the old file come before this hunk. */
  int oldIndex() {
    return oldLines.isEmpty() ? oldStart : oldStart - 1;
  }

  /** Returns how many lines of the new file come before this hunk. */
  int newIndex() {
    return newLines.isEmpty() ? newStart : newStart - 1;
  }
}
