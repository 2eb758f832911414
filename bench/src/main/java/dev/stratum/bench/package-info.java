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
/**
 * Benchmarks that hold this fork and the published HBase side by side.
 * <p>
 * One package per area; the class of a feature's benchmark carries the feature's name. Every
 * benchmark class extends {@link dev.stratum.bench.PinnedJvm}, which fixes the JVM it is measured
 * in, and calls only what both sides have, unless it says {@link
 * dev.stratum.bench.harness.ForkOnly}. Its Javadoc says what is measured, in which unit, with which
 * command, and the source of the shape of the workload.
 */
package dev.stratum.bench;
