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
 * End-to-end workloads: the cases that people judge HBase by, run on real servers of this fork and
 * of the published version on the same machine in the same run.
 * <p>
 * {@link dev.stratum.bench.workloads.WorkloadSuite} is the main class. It runs the cases of a
 * {@link dev.stratum.bench.workloads.SuitePlan} by a {@link
 * dev.stratum.bench.workloads.CaseRunner} on a {@link dev.stratum.bench.workloads.ClusterPair}, and
 * a {@link dev.stratum.bench.workloads.ResultRecorder} writes the results. Each side is a {@link
 * dev.stratum.bench.workloads.ClusterUnderTest} of three JVMs: HDFS, ZooKeeper and master in one,
 * the RegionServer in the second, whose heap, collections and CPU time are measured,
 * and the clients in the third. Cases are the property files beside this package's name in the
 * resources; docs/workloads.md says how to run them and how to read the report.
 */
package dev.stratum.bench.workloads;
