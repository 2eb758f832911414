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
package dev.stratum.childprocess;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The cause of each {@link ProcessException} about a child: the stack trace that the child sent, if
 * any, and the last lines of its log.
 */
final class ChildOutput extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int MAX_LINES = 40;
  private static final int MAX_BYTES = 16 << 10;

  /** @param trace of the child's error, or an empty string */
  ChildOutput(String trace, Path log) {
    // The parent's own stack is that of the ProcessException.
    super(trace + "The end of " + log + ":\n" + tail(log), null, false, false);
  }

  private static String tail(Path log) {
    try (SeekableByteChannel file = Files.newByteChannel(log)) {
      file.position(Math.max(0, file.size() - MAX_BYTES));
      ByteBuffer end = ByteBuffer.allocate(MAX_BYTES);
      while (end.hasRemaining() && file.read(end) >= 0) {
        continue;
      }
      String text = new String(end.array(), 0, end.position(), StandardCharsets.UTF_8);
      List<String> lines = text.lines().toList();
      return String.join("\n",
        lines.subList(Math.max(0, lines.size() - MAX_LINES), lines.size()));
    } catch (IOException e) {
      return "not readable: " + e;
    }
  }
}
