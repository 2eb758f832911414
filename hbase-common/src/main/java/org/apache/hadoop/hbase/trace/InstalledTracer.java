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
package org.apache.hadoop.hbase.trace;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Determines whether spans are recorded, so that attributes need not be collected for spans that
 * are discarded. Thread-safe.
 */
@InterfaceAudience.Private
public final class InstalledTracer {
  /**
   * The tracer that OpenTelemetry returns while neither an SDK nor an agent is installed: one
   * object.
   */
  private static final Tracer NONE = OpenTelemetry.noop().getTracer("");

  private InstalledTracer() {
  }

  /** @return whether no tracer is installed; false in doubt, and as soon as one is installed */
  public static boolean isAbsent() {
    return TraceUtil.getGlobalTracer() == NONE;
  }
}
