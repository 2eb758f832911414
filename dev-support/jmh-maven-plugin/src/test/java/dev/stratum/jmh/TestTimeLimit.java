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

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import org.junit.Test;

public class TestTimeLimit {
  private static final Trial SHORT = trial("a.Short.run");
  private static final Trial LONG = trial("a.Long.run");

  private static Trial trial(String name) {
    return new Trial(name, "AverageTime", Map.of(), false, 2, 1000, null);
  }

  @Test
  public void testARoundBeginsOnlyIfItEndsInTime() {
    TimeLimit limit = new TimeLimit(10_000);
    limit.took(SHORT, 1000);
    limit.took(LONG, 4000);
    limit.took(LONG, 3000);
    assertTrue(limit.leaves(LONG, 6000));
    assertFalse("the longest of its rounds counts", limit.leaves(LONG, 6500));
    assertTrue(limit.leaves(SHORT, 6500));
  }

  @Test
  public void testTheFirstRoundOfATrialBeginsWhileThereIsTime() {
    TimeLimit limit = new TimeLimit(10_000);
    assertTrue(limit.leaves(LONG, 9999));
    assertFalse(limit.leaves(LONG, 10_000));
  }

  @Test
  public void testWithoutALimitEverythingBegins() {
    TimeLimit limit = new TimeLimit(Long.MAX_VALUE);
    limit.took(LONG, 4000);
    assertTrue(limit.leaves(LONG, Long.MAX_VALUE - 5000));
  }
}
