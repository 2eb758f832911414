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

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestAlternatingIterations {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final List<String> iterations = Collections.synchronizedList(new ArrayList<>());

  private CompletableFuture<Void> start(String side, String other, int count) {
    Path directory = folder.getRoot().toPath();
    AlternatingIterations alternation = new AlternatingIterations(
      AlternatingIterations.argument(directory, side, other, "stock"));
    return CompletableFuture.runAsync(() -> {
      for (int i = 0; i < count; i++) {
        alternation.beforeIteration(null, null);
        iterations.add(side);
        alternation.afterIteration(null, null, null);
      }
      try {
        AlternatingIterations.markEnded(directory, side);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
  }

  @Test
  public void testOneIterationOfEachSideAndTheRestOfTheLongerOne() throws Exception {
    CompletableFuture<Void> fork = start("fork", "stock", 4);
    CompletableFuture<Void> stock = start("stock", "fork", 6);
    CompletableFuture.allOf(fork, stock).get(2, TimeUnit.MINUTES);
    assertEquals(List.of("stock", "fork", "stock", "fork", "stock", "fork", "stock", "fork",
      "stock", "stock"), iterations);
  }

  @Test
  public void testASideThatNeverBeganIsNotWaitedForOnceItHasEnded() throws Exception {
    CompletableFuture<Void> fork = start("fork", "stock", 2);
    Thread.sleep(50);
    assertEquals(List.of(), iterations);
    AlternatingIterations.markEnded(folder.getRoot().toPath(), "stock");
    fork.get(2, TimeUnit.MINUTES);
    assertEquals(List.of("fork", "fork"), iterations);
  }
}
