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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestDeviceWaitProbe {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceWaitProbe.class);

  private final DeviceWaitProbe waits = new DeviceWaitProbe();

  private int looks(int batches) {
    int looks = 0;
    for (int i = 0; i < batches; i++) {
      looks += waits.isExpected() ? 1 : 0;
    }
    return looks;
  }

  @Test
  public void testAFewAreLookedAtWhenNoneWaits() {
    assertTrue("the first one", waits.isExpected());
    assertEquals(0, looks(DeviceWaitProbe.PROBE - 1));
    assertEquals(100, looks(100 * DeviceWaitProbe.PROBE));
  }

  @Test
  public void testAllAreLookedAtBehindOneThatWaits() {
    waits.recordWait();
    assertEquals(DeviceWaitProbe.LIKELY, looks(DeviceWaitProbe.LIKELY));
    assertEquals(10, looks(10 * DeviceWaitProbe.PROBE));
    for (int i = 0; i < 10; i++) {
      waits.recordWait();
      assertEquals(DeviceWaitProbe.LIKELY / 2, looks(DeviceWaitProbe.LIKELY / 2));
    }
  }
}
