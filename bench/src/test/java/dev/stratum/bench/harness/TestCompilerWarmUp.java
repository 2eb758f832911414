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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Test;

/** What is repeated before a measurement, by whom, and when that ends. */
public class TestCompilerWarmUp {
  private final AtomicInteger windows = new AtomicInteger();

  @Test
  public void testASideThatIsNeverQuietIsNotRepeatedForEver() throws Exception {
    CompilerWarmUp.untilQuiet(1, windows::incrementAndGet);
    assertEquals(1, windows.get());
  }

  @Test
  public void testItEndsWhenThereIsNothingToCompile() throws Exception {
    CompilerWarmUp.untilQuiet(1000, windows::incrementAndGet);
    assertTrue(windows + " windows", windows.get() >= 2 && windows.get() < 1000);
  }

  @Test
  public void testMoreThreadsThanProcessorsTakePartInTheEnd() throws Exception {
    int threads = Runtime.getRuntime().availableProcessors() + 3;
    Set<Thread> all = ConcurrentHashMap.newKeySet();
    AtomicInteger most = new AtomicInteger();
    CompilerWarmUp.run(threads, () -> all.add(Thread.currentThread()), () -> {
      most.accumulateAndGet(all.size(), Math::max);
      all.clear();
    });
    assertEquals(threads, most.get());
  }

  @Test
  public void testWhatFailsIsToldOf() {
    IllegalStateException failure = new IllegalStateException();
    ExecutionException told =
      assertThrows(ExecutionException.class, () -> CompilerWarmUp.run(1, () -> {
        throw failure;
      }, () -> {
      }));
    assertSame(failure, told.getCause());
  }
}
