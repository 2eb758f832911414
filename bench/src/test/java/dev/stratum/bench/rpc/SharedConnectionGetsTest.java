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

import static org.junit.Assert.assertEquals;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;

/** What holds for each benchmark of gets over a shared connection. */
abstract class SharedConnectionGetsTest {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final SharedConnectionGets benchmark;

  /** @param benchmark with its feature on */
  SharedConnectionGetsTest(SharedConnectionGets benchmark) {
    this.benchmark = benchmark;
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testGetsARow() throws Exception {
    benchmark.open();
    assertEquals(100, benchmark.one().value().length);
    assertEquals(100, benchmark.sixteen().value().length);
    assertEquals(100, benchmark.sixtyFour().value().length);
  }
}
