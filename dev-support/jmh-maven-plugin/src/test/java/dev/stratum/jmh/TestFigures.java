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

import org.junit.Test;

public class TestFigures {
  @Test
  public void testFiguresHaveThreeDigitsThatMeanSomething() {
    assertEquals("0.00123", Figures.of(0.001234));
    assertEquals("0.123", Figures.of(0.1234));
    assertEquals("1.23", Figures.of(1.234));
    assertEquals("12.3", Figures.of(12.34));
    assertEquals("123", Figures.of(123.4));
    assertEquals("33,200", Figures.of(33200));
    assertEquals("0", Figures.of(0));
    assertEquals("-12.3", Figures.of(-12.34));
    assertEquals("-", Figures.of(Double.NaN));
  }

  @Test
  public void testARatioBeyondAThousandIsOnlySaidToBe() {
    assertEquals("999.00", Figures.ratio(999));
    assertEquals(">999", Figures.ratio(1000));
    assertEquals(">999", Figures.ratio(Double.POSITIVE_INFINITY));
  }

  @Test
  public void testTimesAreMinutesAndSeconds() {
    assertEquals("0:00", Figures.time(400));
    assertEquals("1:01", Figures.time(60_900));
    assertEquals("61:40", Figures.time(3_700_000));
  }
}
