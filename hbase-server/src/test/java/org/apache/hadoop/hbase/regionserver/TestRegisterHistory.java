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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestRegisterHistory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegisterHistory.class);

  private static final int HISTORIES = 20_000;
  private static final int MAX_OPERATIONS = 6;

  private static final class Operation {
    private final boolean write;
    private final String value;
    private final long invoked;
    private final long responded;

    private Operation(boolean write, String value, long invoked, long responded) {
      this.write = write;
      this.value = value;
      this.invoked = invoked;
      this.responded = responded;
    }

    @Override
    public String toString() {
      return (write ? "write " : "read ") + value + " " + invoked + "-" + responded;
    }
  }

  /** Tries all orders. A failed write may be left out. */
  private static boolean isLinearizable(List<Operation> left, String current) {
    boolean done = true;
    for (Operation operation : left) {
      done &= operation.responded == RegisterHistory.UNKNOWN;
    }
    if (done) {
      return true;
    }
    for (Operation next : left) {
      boolean mayBeNext = left.stream().noneMatch(other -> other.responded < next.invoked)
        && (next.write || Objects.equals(next.value, current));
      if (mayBeNext) {
        List<Operation> others = new ArrayList<>(left);
        others.remove(next);
        if (isLinearizable(others, next.write ? next.value : current)) {
          return true;
        }
      }
    }
    return false;
  }

  private static String contradiction(List<Operation> operations) {
    RegisterHistory history = new RegisterHistory();
    for (Operation operation : operations) {
      if (operation.write) {
        history.wrote(operation.value, operation.invoked, operation.responded);
      } else {
        history.read(operation.value, operation.invoked, operation.responded);
      }
    }
    return history.contradiction();
  }

  private static List<Operation> random(Random random) {
    List<Operation> operations = new ArrayList<>();
    List<Long> times = new ArrayList<>();
    int count = 1 + random.nextInt(MAX_OPERATIONS);
    for (long time = 0; time < 2 * count; time++) {
      times.add(time);
    }
    int writes = 1 + random.nextInt(count);
    for (int i = 0; i < count; i++) {
      long a = times.remove(random.nextInt(times.size()));
      long b = times.remove(random.nextInt(times.size()));
      boolean write = i < writes;
      boolean failed = write && random.nextInt(4) == 0;
      int value = write ? i : random.nextInt(writes + 1);
      operations.add(new Operation(write, value == writes ? null : "v" + value, Math.min(a, b),
        failed ? RegisterHistory.UNKNOWN : Math.max(a, b)));
    }
    return operations;
  }

  @Test
  public void testSaysWhatAllOrdersSay() {
    int linearizable = 0;
    Random random = new Random(1);
    for (int i = 0; i < HISTORIES; i++) {
      List<Operation> operations = random(random);
      boolean expected = isLinearizable(operations, null);
      linearizable += expected ? 1 : 0;
      String contradiction = contradiction(operations);
      assertEquals(operations + ": " + contradiction, expected, contradiction == null);
    }
    assertTrue(linearizable + " of " + HISTORIES,
      linearizable > HISTORIES / 10 && linearizable < HISTORIES * 9 / 10);
  }
}
