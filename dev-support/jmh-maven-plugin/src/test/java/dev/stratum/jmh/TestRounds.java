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
package dev.stratum.jmh;

import static org.junit.Assert.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.Test;

public class TestRounds {
  private static final Trial HEADLINE = trial("AverageTime",
    new BenchmarkEntry.Headline(List.of(), "cache", 0, 0));
  private static final Trial OTHER = trial("AverageTime", null);

  private static Trial trial(String mode, BenchmarkEntry.Headline headline) {
    return new Trial("a.Cache.hit", mode, Map.of(), false, 5, 1000, headline);
  }

  private static void add(Rounds rounds, Trial trial, double stock, double... fork) {
    for (double one : fork) {
      rounds.add(trial, stock, one);
    }
  }

  @Test
  public void testLargeEffectHasTwoRounds() {
    Rounds rounds = new Rounds(null);
    assertEquals(2, rounds.of(HEADLINE));
    add(rounds, HEADLINE, 100, 20, 20.5);
    assertEquals(2, rounds.of(HEADLINE));
  }

  @Test
  public void testLossIsShownAsWell() {
    Rounds rounds = new Rounds(null);
    add(rounds, HEADLINE, 100, 200, 201);
    assertEquals(2, rounds.of(HEADLINE));
  }

  @Test
  public void testSmallEffectHasMoreRoundsUntilItIsShown() {
    Rounds rounds = new Rounds(null);
    add(rounds, HEADLINE, 100, 90, 96, 84);
    assertEquals(4, rounds.of(HEADLINE));
    add(rounds, HEADLINE, 100, 90);
    assertEquals(5, rounds.of(HEADLINE));
    add(rounds, HEADLINE, 100, 90, 89);
    assertEquals("shown after six", 6, rounds.of(HEADLINE));
  }

  @Test
  public void testNoEffectHasEightRounds() {
    Rounds rounds = new Rounds(null);
    add(rounds, HEADLINE, 100, 100, 101, 99, 100, 101, 99, 100, 101);
    assertEquals(8, rounds.of(HEADLINE));
    assertEquals(8, rounds.most(HEADLINE));
  }

  @Test
  public void testOfThroughputMoreIsBetter() {
    Trial throughput = trial("Throughput", new BenchmarkEntry.Headline(List.of(), "wal", 0, 0));
    Rounds rounds = new Rounds(null);
    add(rounds, throughput, 100, 300, 301);
    assertEquals(2, rounds.of(throughput));
  }

  @Test
  public void testOutsideTheHeadlineSetTheBenchmarkDecides() {
    Rounds rounds = new Rounds(null);
    add(rounds, OTHER, 100, 100, 101, 99);
    assertEquals(5, rounds.of(OTHER));
    assertEquals(5, rounds.most(OTHER));
  }

  @Test
  public void testNumberOnTheCommandLineIsThatOfAll() {
    Rounds rounds = new Rounds(2);
    assertEquals(2, rounds.of(HEADLINE));
    assertEquals(2, rounds.most(HEADLINE));
    assertEquals(2, rounds.of(OTHER));
  }
}
