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

import java.util.Map;
import org.junit.Test;

public class TestCountdown {
  private static final Trial SHORT = trial("a.Short.run");
  private static final Trial LONG = trial("a.Long.run");

  private static Trial trial(String name) {
    return new Trial(name, "AverageTime", Map.of(), false, 2, 1000, null);
  }

  @Test
  public void testWhatATrialTookStandsForWhatItWillTake() {
    Countdown countdown = new Countdown();
    countdown.add(SHORT, 1000, 2);
    countdown.add(LONG, 9000, 4);
    countdown.done(SHORT, 4000);
    // Left are one of 4 s, and four of 9 s with the 3 s that the first one took on top of its
    // times.
    assertEquals(4000 + 4 * (9000 + 3000), countdown.left());
    countdown.done(LONG, 10_000);
    assertEquals(4000 + 3 * 10_000, countdown.left());
    assertEquals("2/6, 0:34 left", countdown.toString());
  }

  @Test
  public void testWhatIsGivenUpTakesNoTime() {
    Countdown countdown = new Countdown();
    countdown.add(SHORT, 1000, 2);
    countdown.add(LONG, 9000, 4);
    countdown.done(SHORT, 4000);
    countdown.drop(LONG);
    assertEquals("1/2, 0:04 left", countdown.toString());
  }
}
