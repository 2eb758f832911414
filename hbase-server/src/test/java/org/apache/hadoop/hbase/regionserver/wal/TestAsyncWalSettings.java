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

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestAsyncWalSettings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestAsyncWalSettings.class);

  private final Configuration conf = new Configuration(false);

  @Test
  public void testWithoutKeysNothingIsBound() {
    assertFalse(AsyncWalSettings.of(conf).isEnabled());
  }

  @Test
  public void testZeroIsAsWithoutKey() {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "0");
    conf.set(AsyncWalSettings.BYTES_KEY, "0");
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "0");
    assertFalse(AsyncWalSettings.of(conf).isEnabled());
  }

  @Test
  public void testEachKeyIsEnough() {
    for (String key : new String[] { AsyncWalSettings.INTERVAL_KEY, AsyncWalSettings.BYTES_KEY,
      AsyncWalSettings.MAX_UNSYNCED_KEY }) {
      Configuration one = new Configuration(false);
      one.set(key, " 1 ");
      assertTrue(key, AsyncWalSettings.of(one).isEnabled());
    }
  }

  @Test
  public void testValuesAreTakenOver() {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "100");
    conf.set(AsyncWalSettings.BYTES_KEY, "1048576");
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1048576");
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    assertEquals(TimeUnit.MILLISECONDS.toNanos(100), settings.intervalNanos());
    assertEquals(1048576, settings.bytes());
    assertEquals(1048576, settings.maxUnsynced());
  }

  private String refusal(String key, String value) {
    conf.set(key, value);
    try {
      return assertThrows(IllegalArgumentException.class, () -> AsyncWalSettings.of(conf))
        .getMessage();
    } finally {
      conf.unset(key);
    }
  }

  @Test
  public void testWrongValueIsRefusedWithKeyValueAndRemedy() {
    for (String value : new String[] { "-1", "3600001", "soon", "1.5" }) {
      assertEquals("hbase.wal.async.sync.interval.ms is " + value + "; must be an integer from 0 "
        + "to 3600000. Set a number in this range, or remove the key for the default of 0.",
        refusal(AsyncWalSettings.INTERVAL_KEY, value));
    }
    assertEquals("hbase.wal.async.sync.bytes is 1m; must be an integer of at least 0. Set a number "
      + "in this range, or remove the key for the default of 0.",
      refusal(AsyncWalSettings.BYTES_KEY, "1m"));
  }

  @Test
  public void testLessRoomThanBytesIsRefused() {
    conf.set(AsyncWalSettings.BYTES_KEY, "1000");
    assertEquals("hbase.wal.async.max.unsynced.bytes is 999; must be 0 or at least the 1000 of "
      + "hbase.wal.async.sync.bytes. Set it to twice that, or remove the key.",
      refusal(AsyncWalSettings.MAX_UNSYNCED_KEY, "999"));
  }
}
