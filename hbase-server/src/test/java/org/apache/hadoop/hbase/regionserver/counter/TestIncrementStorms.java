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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Storms of increments and interrupts: the sums are those of the acknowledged increments, and the
 * values those of one order.
 */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementStorms extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementStorms.class);

  public TestIncrementStorms(Sending sending) {
    super(sending);
  }

  @Test
  public void testStormOfIncrementsAndInterruptsOfARegion() throws Exception {
    groupRows();
    storm();
  }

  @Test
  public void testStormOfIncrementsAndInterrupts() throws Exception {
    storm();
  }

  /** Whoever is interrupted is not counted, whatever its part in a group. */
  private void storm() throws Exception {
    // More than a server has handlers.
    int workers = 64;
    int each = 50;
    List<CounterHistory> histories = new ArrayList<>();
    for (String row : new String[] { "hot", "warm", "cool" }) {
      histories.add(new CounterHistory(Bytes.toBytes(row)));
    }
    AtomicLong nonce = new AtomicLong();
    AtomicInteger interrupted = new AtomicInteger();
    List<Future<?>> ends = new ArrayList<>();
    for (int worker = 0; worker < workers; worker++) {
      Random random = new Random(worker);
      ends.add(threads.submit(() -> {
        for (int i = 0; i < each; i++) {
          CounterHistory history = histories.get(Math.max(0, random.nextInt(6) - 3));
          long amount = random.nextInt(200) - 100;
          Increment increment = history.increment(amount);
          long begun = System.nanoTime();
          try {
            history.add(amount, begun, sender.stormy(increment, nonce.incrementAndGet()));
          } catch (IOException e) {
            interrupted.incrementAndGet();
          }
          Thread.interrupted();
        }
        return null;
      }));
    }
    Random random = new Random(workers);
    while (!ends.stream().allMatch(Future::isDone)) {
      Object[] now = running.toArray();
      if (now.length > 0) {
        ((Thread) now[random.nextInt(now.length)]).interrupt();
      }
      Thread.sleep(1);
    }
    int acknowledged = 0;
    for (Future<?> end : ends) {
      end.get();
    }
    for (CounterHistory history : histories) {
      history.assertSum(region.get(new Get(history.row())));
      history.assertLinear();
      acknowledged += history.size();
    }
    assertEquals(workers * each, acknowledged + interrupted.get());
    assertTrue(acknowledged > 0);
  }
}
