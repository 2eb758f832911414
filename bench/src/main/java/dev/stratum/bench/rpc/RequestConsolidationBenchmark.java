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
package dev.stratum.bench.rpc;

import org.apache.hadoop.conf.Configuration;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * A get by each of several clients that share a connection, in microseconds, with requests that are
 * ready together sent together.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=RequestConsolidationBenchmark -Djmh.alternate=iteration
 * </pre>
 *
 * <code>hbase.client.netty.flush.consolidation.enabled</code> on the fork is compared with stock,
 * which has no such thing.
 */
@State(Scope.Benchmark)
public class RequestConsolidationBenchmark extends SharedConnectionGets {
  /** <code>hbase.client.netty.flush.consolidation.enabled</code> on the fork. */
  @Param("true")
  public boolean consolidated;

  /** <code>hbase.server.netty.flush.consolidation.enabled</code> on the fork. */
  @Param({ "false", "true" })
  public boolean server;

  @Override
  void configure(Configuration conf) {
    conf.setBoolean("hbase.client.netty.flush.consolidation.enabled", consolidated);
    conf.setBoolean("hbase.server.netty.flush.consolidation.enabled", server);
  }
}
