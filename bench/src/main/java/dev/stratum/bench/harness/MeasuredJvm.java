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
package dev.stratum.bench.harness;

/**
 * Whether this is a JVM that JMH measures in. It ends at once when it has sent its results, and
 * {@link BenchmarkHost} removes its files: servers in it need not be stopped, which takes seconds.
 */
public final class MeasuredJvm {
  /** The system property that tells. */
  static final String PROPERTY = "stratum.bench.measured.jvm";

  private MeasuredJvm() {
  }

  /** Returns whether what is still open ends with this JVM in a moment. */
  public static boolean isEnding() {
    return Boolean.getBoolean(PROPERTY);
  }
}
