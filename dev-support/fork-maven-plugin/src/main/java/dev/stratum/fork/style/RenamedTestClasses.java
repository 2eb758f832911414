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
package dev.stratum.fork.style;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The classes of HBase's tests that have other names on 3.x, with the same methods. */
final class RenamedTestClasses {
  private static final Map<String, String> NAMES =
    Map.of("HBaseTestingUtility", "HBaseTestingUtil", "HBaseCommonTestingUtility",
      "HBaseCommonTestingUtil", "HBaseZKTestingUtility", "HBaseZKTestingUtil",
      "StartMiniClusterOption", "StartTestingClusterOption", "MiniHBaseCluster",
      "SingleProcessHBaseCluster", "HBaseCluster", "HBaseClusterInterface");
  private static final Pattern OLD =
    Pattern.compile("\\b(" + String.join("|", NAMES.keySet()) + ")\\b");

  private RenamedTestClasses() {
  }

  /** Returns a test with the names of 3.x. */
  static String replace(String text) {
    return OLD.matcher(text)
      .replaceAll(match -> Matcher.quoteReplacement(NAMES.get(match.group(1))));
  }
}
