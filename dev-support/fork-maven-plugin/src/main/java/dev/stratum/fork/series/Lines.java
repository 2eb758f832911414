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

/**
 * The lines of a file as bytes. A line keeps its terminator, so that carriage returns and a
 * missing newline at the end of the file are ordinary content and joining the lines gives the file
 * back byte for byte.
 */
public final class Lines {

  private Lines() {
  }

  /** Returns the lines of {@code content}, each up to and including its newline. */
  public static List<byte[]> split(byte[] content) {
    List<byte[]> lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < content.length; i++) {
      if (content[i] == '\n') {
        lines.add(Arrays.copyOfRange(content, start, i + 1));
        start = i + 1;
      }
    }
    if (start < content.length) {
      lines.add(Arrays.copyOfRange(content, start, content.length));
    }
    return lines;
  }

  /** Returns the bytes of {@code lines} one after the other. */
  static byte[] join(List<byte[]> lines) {
    int length = 0;
    for (byte[] line : lines) {
      length += line.length;
    }
    byte[] content = new byte[length];
    int at = 0;
    for (byte[] line : lines) {
      System.arraycopy(line, 0, content, at, line.length);
      at += line.length;
    }
    return content;
  }
}
