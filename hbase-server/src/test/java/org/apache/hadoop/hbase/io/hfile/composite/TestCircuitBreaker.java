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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestCircuitBreaker {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCircuitBreaker.class);

  private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(1);
  private final CircuitBreaker breaker = new CircuitBreaker(3, () -> now);

  private void open() {
    for (int position = 0; position < 3; position++) {
      breaker.failed(breaker.term(), position);
    }
    assertFalse(breaker.isClosed());
  }

  @Test
  public void testFailuresAtDifferentPlacesOpenIt() {
    assertFalse(breaker.failed(0, 7));
    assertFalse(breaker.failed(0, 8));
    assertTrue(breaker.isClosed());
    assertTrue(breaker.failed(0, 9));
    assertFalse(breaker.isClosed());
    assertFalse("open already", breaker.failed(0, 10));
  }

  @Test
  public void testOnePlaceIsOneFailure() {
    for (int i = 0; i < 100; i++) {
      assertFalse(breaker.failed(0, i % 2));
    }
    assertTrue(breaker.isClosed());
  }

  @Test
  public void testSuccessBeginsAnew() {
    breaker.failed(0, 1);
    breaker.failed(0, 2);
    breaker.succeeded();
    assertFalse(breaker.failed(0, 3));
    assertFalse(breaker.failed(0, 1));
    assertTrue(breaker.failed(0, 2));
  }

  @Test
  public void testFailuresFromBeforeTheReturnDoNotCount() {
    int before = breaker.term();
    open();
    breaker.close();
    for (int position = 0; position < 10; position++) {
      assertFalse(breaker.failed(before, position));
    }
    assertTrue(breaker.isClosed());
  }

  @Test
  public void testPausesDoubleUpToTheLongest() {
    open();
    long pause = CircuitBreaker.FIRST_PAUSE;
    for (int i = 0; i < 12; i++) {
      assertEquals(pause, breaker.untilProbe());
      now += pause;
      assertEquals(0, breaker.untilProbe());
      breaker.probeFailed();
      pause = Math.min(2 * pause, CircuitBreaker.MAX_PAUSE);
    }
    assertEquals(CircuitBreaker.MAX_PAUSE, pause);
  }

  @Test
  public void testReturnThatDoesNotLastDoesNotShortenThePause() {
    open();
    for (int i = 0; i < 3; i++) {
      breaker.probeFailed();
    }
    breaker.close();
    now += CircuitBreaker.FIRST_PAUSE;
    open();
    assertEquals(16 * CircuitBreaker.FIRST_PAUSE, breaker.untilProbe());
    breaker.close();
    now += 10 * 16 * CircuitBreaker.FIRST_PAUSE + 1;
    open();
    assertEquals(CircuitBreaker.FIRST_PAUSE, breaker.untilProbe());
  }

  @Test
  public void testOneUserIsTheProbe() {
    assertTrue(breaker.claim());
    assertTrue("while it is closed", breaker.claim());
    open();
    assertFalse(breaker.mayAttempt());
    assertFalse(breaker.claim());
    long pause = CircuitBreaker.FIRST_PAUSE;
    for (int i = 0; i < 3; i++) {
      now += pause;
      assertTrue(breaker.mayAttempt());
      assertTrue(breaker.claim());
      assertFalse("another user", breaker.claim());
      pause *= 2;
      assertEquals("as if it had failed", pause, breaker.untilProbe());
    }
    breaker.close();
    assertTrue(breaker.claim());
  }

  @Test
  public void testOneFailureIsEnoughIfToldSo() {
    CircuitBreaker one = new CircuitBreaker(1, () -> now);
    assertTrue(one.failed(0, 0));
    assertFalse(one.open());
    one.close();
    assertTrue(one.open());
  }
}
