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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestInBlockSeekBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final InBlockSeekBenchmark benchmark = new InBlockSeekBenchmark();

  @Before
  public void open() throws Exception {
    benchmark.size = 32768;
    benchmark.megabytes = 2;
    benchmark.open();
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testEachRowIsFound() throws Exception {
    for (int i = 0; i < 1000; i++) {
      assertTrue(benchmark.seek());
    }
  }
}
