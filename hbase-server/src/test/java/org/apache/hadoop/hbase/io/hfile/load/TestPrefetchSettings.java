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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.regionserver.PrefetchExecutorNotifier;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestPrefetchSettings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchSettings.class);

  private final Configuration conf = new Configuration(false);

  @After
  public void tearDown() {
    PrefetchScheduler.get().configure(new Configuration(false));
  }

  @Test
  public void testWithoutKeysNothingIsLimitedOrReordered() {
    PrefetchSettings settings = PrefetchSettings.of(conf);
    assertEquals(0, settings.bytesPerSecond());
    assertEquals(PrefetchSettings.Order.REQUEST, settings.order());
    assertEquals(1, settings.queueMax(), 0);
  }

  @Test
  public void testValuesAreTakenOver() {
    conf.set(PrefetchSettings.LIMIT_KEY, " 0.5 ");
    conf.set(PrefetchSettings.ORDER_KEY, "newest");
    conf.set(PrefetchSettings.QUEUE_MAX_KEY, "0.5");
    PrefetchSettings settings = PrefetchSettings.of(conf);
    assertEquals(1 << 19, settings.bytesPerSecond());
    assertEquals(PrefetchSettings.Order.NEWEST, settings.order());
    assertEquals(0.5, settings.queueMax(), 0);
  }

  private void assertRefused(String key, String value, String rangeAndRemedy) {
    conf.set(key, value);
    String message =
      assertThrows(IllegalArgumentException.class, () -> PrefetchSettings.of(conf)).getMessage();
    assertEquals(key + " is " + value + "; must be " + rangeAndRemedy, message);
    conf.unset(key);
  }

  @Test
  public void testWrongValueIsRefusedWithKeyValueAndRemedy() {
    for (String value : new String[] { "-1", "fast", "NaN", "Infinity", "1000001" }) {
      assertRefused(PrefetchSettings.LIMIT_KEY, value,
        "a number from 0 to 1000000. Set a number of MB per second, or 0 for no limit.");
    }
    for (String value : new String[] { "-0.1", "1.1", "half" }) {
      assertRefused(PrefetchSettings.QUEUE_MAX_KEY, value,
        "a number from 0 to 1. Set a number such as 0.5 to wait while a queue is more than half "
          + "full, or 1 not to wait.");
    }
    assertRefused(PrefetchSettings.ORDER_KEY, "oldest",
      "request or newest. Set one of these, or remove the key for the default of request.");
  }

  @Test
  public void testServerDoesNotStartWithWrongValueAndKeepsWhatItHasWhenItChanges() {
    conf.set(PrefetchSettings.LIMIT_KEY, "7");
    PrefetchExecutorNotifier notifier = new PrefetchExecutorNotifier(conf);
    assertEquals(7 << 20, PrefetchScheduler.get().settings().bytesPerSecond());
    conf.set(PrefetchSettings.LIMIT_KEY, "8");
    notifier.onConfigurationChange(conf);
    assertEquals(8 << 20, PrefetchScheduler.get().settings().bytesPerSecond());
    conf.set(PrefetchSettings.LIMIT_KEY, "eight");
    notifier.onConfigurationChange(conf);
    assertEquals(8 << 20, PrefetchScheduler.get().settings().bytesPerSecond());
    String message =
      assertThrows(IllegalArgumentException.class, () -> new PrefetchExecutorNotifier(conf))
        .getMessage();
    assertTrue(message, message.startsWith(PrefetchSettings.LIMIT_KEY + " is eight; "));
  }
}
