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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Requests for entries that more items would have made hits. */
@Category({ IOTests.class, SmallTests.class })
public class TestGhostEntries {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestGhostEntries.class);

  private FrequencySketch sketch;
  private GhostEntries ghosts;

  private void open(int items) {
    sketch = new FrequencySketch(10_000);
    ghosts = new GhostEntries(sketch, items);
  }

  private void request(long entry) {
    long hash = FrequencySketch.hash(entry);
    sketch.increment(hash);
    ghosts.onMiss(hash);
  }

  private void request(long entry, int times) {
    for (int i = 0; i < times; i++) {
      request(entry);
    }
  }

  @Test
  public void testTellsHowOftenEachEntryWasAskedForTheHighestCountFirst() {
    open(10);
    assertEquals(0, ghosts.counts().length);
    request(1, 4);
    request(2, 1);
    request(3, 6);
    request(4, 1000);
    assertArrayEquals("without the first request", new long[] { 999, 5, 3 }, ghosts.counts());
  }

  @Test
  public void testCountsThoseThatAreAskedForMostAmongManyOthers() {
    open(10);
    Random random = new Random(1);
    long[] asked = new long[10];
    for (int i = 0; i < 100_000; i++) {
      // A fifth of the requests go to ten entries, the others to a hundred thousand.
      if (random.nextInt(5) == 0) {
        int entry = random.nextInt(10);
        asked[entry]++;
        request(1 + entry);
      } else {
        request(11 + random.nextInt(100_000));
      }
    }
    long[] counts = Arrays.copyOf(ghosts.counts(), 10);
    Arrays.sort(asked);
    for (int i = 0; i < 10; i++) {
      long most = asked[9 - i];
      assertTrue(counts[i] + " of " + most, counts[i] <= most && counts[i] >= 0.95 * most);
    }
  }

  @Test
  public void testEntryThatReplacesAnotherBeginsAnew() {
    open(10);
    request(1, 1000);
    assertArrayEquals(new long[] { 999 }, ghosts.counts());
    // There are many times as many as slots; the first one is not requested meanwhile.
    for (int entry = 2; entry < 10 * GhostEntries.SLOTS; entry++) {
      request(entry, 5);
    }
    assertTrue("" + ghosts.counts()[0], ghosts.counts()[0] < 5);
  }

  /** Of as many items as there may be, none is left out, within the limit of the table. */
  @Test
  public void testEachOfManyPlacesHasAnEntry() {
    int items = 20_000;
    sketch = new FrequencySketch(items);
    ghosts = new GhostEntries(sketch, items);
    for (int times = 0; times < 3; times++) {
      for (int entry = 1; entry <= items; entry++) {
        request(entry);
      }
    }
    long[] counts = ghosts.counts();
    assertTrue(counts.length + " of " + items, counts.length > 0.95 * items);
    assertEquals(0, new GhostEntries(sketch, Integer.MAX_VALUE).counts().length);
  }
}
