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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestTierHistory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTierHistory.class);

  private static final long SECOND = 1_000_000_000L;

  /** Totals that have grown by 1, 2, ... since the reading before. */
  private static long[] totals(int reading) {
    long[] totals = new long[TierHistory.Count.values().length];
    for (int i = 0; i < totals.length; i++) {
      totals[i] = 1000 + (long) reading * (i + 1);
    }
    return totals;
  }

  @Test
  public void testSamplesAreWhatCameBetweenTwoReadings() {
    TierHistory history = new TierHistory(5);
    assertTrue(history.getSamples().isEmpty());
    history.add(100_000, 7 * SECOND, totals(0));
    assertTrue("what was before the first reading is not known", history.getSamples().isEmpty());
    // The wall clock was set back meanwhile.
    history.add(90_000, 17 * SECOND, totals(1));
    TierHistory.Sample sample = history.getSamples().get(0);
    assertEquals(90_000, sample.getTime());
    assertEquals(10_000, sample.getMillis());
    for (TierHistory.Count count : TierHistory.Count.values()) {
      assertEquals(count.ordinal() + 1, sample.get(count));
    }
  }

  @Test
  public void testTheOldestSamplesMakeRoomForTheNewest() {
    TierHistory history = new TierHistory(5);
    for (int i = 0; i < 23; i++) {
      history.add(i, i * SECOND, totals(i));
      List<TierHistory.Sample> samples = history.getSamples();
      assertEquals(Math.min(i, 5), samples.size());
      for (int s = 0; s < samples.size(); s++) {
        assertEquals(i - samples.size() + 1 + s, samples.get(s).getTime());
        assertEquals(1000, samples.get(s).getMillis());
        assertEquals(1, samples.get(s).get(TierHistory.Count.FIRST_HITS));
      }
    }
  }

  @Test
  public void testTwoSamplesMakeOne() {
    TierHistory history = new TierHistory(5);
    for (int i = 0; i < 3; i++) {
      history.add(i * 10_000, i * 10 * SECOND, totals(i));
    }
    TierHistory.Sample both = history.getSamples().get(0).and(history.getSamples().get(1));
    assertEquals(20_000, both.getTime());
    assertEquals(20_000, both.getMillis());
    assertEquals(2 * 3, both.get(TierHistory.Count.MISSES));
  }
}
