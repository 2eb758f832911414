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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariant of {@link CircuitBreaker}, under all {@link Interleavings} with at most three
 * preemptions of accesses that fail or succeed and of the one who opens and closes the breaker.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestCircuitBreakerInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCircuitBreakerInterleavings.class);

  private final Interleavings threads = new Interleavings(3);
  private boolean takesTermLate;
  private boolean works;
  private CircuitBreaker breaker;

  @After
  public void tearDown() {
    threads.close();
  }

  /** Accesses a position of its own; fails if the device does not work when it begins. */
  private Interleavings.Body access(long position) {
    return () -> {
      threads.point();
      int term = breaker.term();
      threads.point();
      if (breaker.isClosed()) {
        threads.point();
        boolean succeeds = works;
        threads.point();
        if (succeeds) {
          breaker.succeeded();
        } else {
          breaker.failed(takesTermLate ? breaker.term() : term, position);
        }
      }
    };
  }

  /** Has the device work again, and tells the breaker. */
  private void repair() {
    threads.point();
    works = true;
    threads.point();
    breaker.open();
    threads.point();
    breaker.close();
  }

  private int tryAll() throws Exception {
    int orders = 0;
    do {
      breaker = new CircuitBreaker(2, () -> 0);
      works = false;
      threads.run(true, access(1), access(2), access(3), this::repair);
      threads.check();
      assertTrue("opened by what failed before the return", breaker.isClosed());
      orders++;
    } while (threads.next());
    return orders;
  }

  @Test
  public void testFailuresOfBeforeAReturnDoNotCount() throws Exception {
    assertTrue(tryAll() > 1000);
  }

  @Test
  public void testTermTakenAfterTheAccessIsFound() {
    takesTermLate = true;
    AssertionError found = assertThrows(AssertionError.class, this::tryAll);
    assertEquals("opened by what failed before the return", found.getMessage());
  }
}
