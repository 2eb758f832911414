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
package dev.stratum.local;

import java.io.PrintStream;
import java.util.Locale;

/** The lines of a run, each with the seconds since it began. Safe for use by several threads. */
final class Stages {
  private final PrintStream out;
  private final long startNanos = System.nanoTime();

  Stages(PrintStream out) {
    this.out = out;
  }

  /** Prints a line that says what has just been done. */
  void done(String format, Object... args) {
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    out.printf(Locale.ROOT, "%6.1f s  %s%n", seconds, String.format(Locale.ROOT, format, args));
    out.flush();
  }

  /** Prints text as it is. */
  void text(String text) {
    out.println(text);
    out.flush();
  }

  PrintStream stream() {
    return out;
  }
}
