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

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The CPU time that an operation costs, in microseconds: that of all threads of the measured
 * JVM, so those of servers, collectors and compilers in it as well, divided by the operations of
 * the iteration. On a machine that others use it stays nearly what it is, while the time that
 * passes does not; and where threads wait for a device or for each other, it tells work from
 * waiting.
 */
public final class CpuTime implements InternalProfiler {
  private final OperatingSystemMXBean system =
    ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private long start;

  @Override
  public String getDescription() {
    return "Processor time of the JVM per operation";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    start = system.getProcessCpuTime();
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark,
    IterationParams iteration, IterationResult result) {
    long nanos = system.getProcessCpuTime() - start;
    long operations = result.getMetadata().getAllOps();
    return start < 0 || operations == 0
      ? List.of()
      : List.of(new ScalarResult("cpu", nanos / 1000.0 / operations, "us/op",
        AggregationPolicy.AVG));
  }
}
