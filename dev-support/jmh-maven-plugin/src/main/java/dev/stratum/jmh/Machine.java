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
package dev.stratum.jmh;

import java.util.Locale;

/** What a result should say of where it was measured, and no more: nothing that names a host. */
final class Machine {
  private Machine() {
  }

  static String describe() {
    return String.format(Locale.ROOT, "JDK %s, %s %s, %d processors",
      System.getProperty("java.version"), System.getProperty("os.name"),
      System.getProperty("os.arch"), Runtime.getRuntime().availableProcessors());
  }
}
