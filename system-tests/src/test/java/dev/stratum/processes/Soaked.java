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
package dev.stratum.processes;

/** The resources that a server holds under a steady load, none of which may grow steadily. */
enum Soaked {
  /** The heap in bytes, after a garbage collection. Each region has a memstore of up to 4 MB. */
  HEAP("heap after collection", "MB", 1 << 20, 16),
  DIRECT_MEMORY("direct memory", "MB", 1 << 20, 8),
  POOL_BUFFERS("buffers of the pool in use", "buffers", 1, 32),
  THREADS("threads", "threads", 1, 5),
  /** The files include store files, whose number changes with flushes and compactions. */
  FILES("file descriptors", "files", 1, 60),
  WAITING_CALLS("calls that wait for a handler", "calls", 1, 16);

  final String title;
  final String unit;
  /** The number by which samples are divided to get the unit. */
  final double scale;
  /** The part that varies under load, in the unit. */
  final double slack;

  Soaked(String title, String unit, double scale, double slack) {
    this.title = title;
    this.unit = unit;
    this.scale = scale;
    this.slack = slack;
  }
}
