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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestSyncsInFlight {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncsInFlight.class);

  private static SyncsInFlight withMax(String max) {
    Configuration conf = new Configuration(false);
    conf.set(SyncsInFlightSettings.MAX_KEY, max);
    return new SyncsInFlight(conf);
  }

  @Test
  public void testWithoutLimitAnyNumberMayStart() {
    SyncsInFlight syncs = withMax("0");
    for (int i = 0; i < 1_000; i++) {
      assertTrue(syncs.mayStart(1));
      syncs.started(1);
    }
    assertFalse("Nobody waits", syncs.ended(1));
  }

  @Test
  public void testNextOneWaitsForTheEndOfOne() {
    SyncsInFlight syncs = withMax("2");
    syncs.started(1);
    assertTrue(syncs.mayStart(1));
    syncs.started(1);
    assertFalse(syncs.mayStart(1));
    assertTrue(syncs.ended(1));
    assertFalse("Told once", syncs.ended(1));
    assertTrue(syncs.mayStart(1));
  }

  @Test
  public void testFullBatchesCountThoughTheyDoNotWait() {
    SyncsInFlight syncs = withMax("1");
    syncs.started(1);
    syncs.started(1);
    assertFalse(syncs.mayStart(1));
    assertTrue(syncs.ended(1));
    assertFalse("One is on its way still", syncs.mayStart(1));
    assertTrue(syncs.ended(1));
    assertTrue(syncs.mayStart(1));
  }

  @Test
  public void testNewFileHasNoneOnItsWay() {
    SyncsInFlight syncs = withMax("1");
    syncs.started(1);
    assertFalse(syncs.mayStart(1));
    assertTrue("What the old one's writer did not end is nobody's concern", syncs.mayStart(2));
    syncs.started(2);
    assertFalse(syncs.mayStart(2));
    assertTrue("A second, spurious call does no harm", syncs.ended(1));
    assertFalse(syncs.mayStart(2));
    assertTrue(syncs.ended(2));
    assertTrue(syncs.mayStart(2));
  }

  @Test
  public void testBadLimitIsRefusedWithKeyValueAndRemedy() {
    for (String value : new String[] { "-1", "auto", "3000000000" }) {
      assertEquals(SyncsInFlightSettings.MAX_KEY + " is " + value + "; must be an integer of at "
        + "least 0. Set a number in this range, or remove the key for the default of 0.",
        assertThrows(IllegalArgumentException.class, () -> withMax(value)).getMessage());
    }
  }
}
