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
public class TestMultigetSettings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMultigetSettings.class);

  private final Configuration conf = new Configuration(false);

  @Test
  public void testWithoutKeysItIsOff() {
    MultigetSettings settings = MultigetSettings.of(conf);
    assertFalse(settings.isEnabled());
    int cores = Runtime.getRuntime().availableProcessors();
    assertEquals(cores, settings.threads());
    assertEquals(cores + 1, settings.maxTasks());
    assertEquals(MultigetSettings.DEFAULT_MIN_BATCH, settings.minBatch());
  }

  @Test
  public void testValuesAreTakenOver() {
    conf.set(MultigetSettings.ENABLED_KEY, " true ");
    conf.set(MultigetSettings.THREADS_KEY, "16");
    conf.set(MultigetSettings.MIN_BATCH_KEY, "1");
    MultigetSettings settings = MultigetSettings.of(conf);
    assertTrue(settings.isEnabled());
    assertEquals(16, settings.threads());
    assertEquals(1, settings.minBatch());
    assertEquals(17, settings.maxTasks());
    conf.set(MultigetSettings.MAX_TASKS_KEY, "4");
    assertEquals(4, MultigetSettings.of(conf).maxTasks());
  }

  private String refusal(String key, String value) {
    conf.set(key, value);
    try {
      return assertThrows(IllegalArgumentException.class, () -> MultigetSettings.of(conf))
        .getMessage();
    } finally {
      conf.unset(key);
    }
  }

  @Test
  public void testWrongValueIsRefusedWithKeyValueAndRemedy() {
    assertEquals("hbase.regionserver.parallel.get.enabled is ture; must be true or false. Set one "
      + "of these, or remove the key for the default of false.",
      refusal(MultigetSettings.ENABLED_KEY, "ture"));
    for (String value : new String[] { "0", "-1", "10001", "many", "1.5" }) {
      assertEquals("hbase.regionserver.parallel.get.min.batch is " + value
        + "; must be an integer from 1 to 10000. Set a number in this range, or remove the key for "
        + "the default of "
        + MultigetSettings.DEFAULT_MIN_BATCH + ".", refusal(MultigetSettings.MIN_BATCH_KEY, value));
      refusal(MultigetSettings.THREADS_KEY, value);
      refusal(MultigetSettings.MAX_TASKS_KEY, value);
    }
  }

  @Test
  public void testWrongValueStopsTheStartButNotARunningServer() {
    conf.set(MultigetSettings.ENABLED_KEY, "true");
    MultigetPool pool = new MultigetPool(conf, Thread::new, threads -> null);
    conf.set(MultigetSettings.THREADS_KEY, "7");
    pool.onConfigurationChange(conf);
    assertEquals(7, pool.getCpuHeadroomCount());
    conf.set(MultigetSettings.THREADS_KEY, "0");
    pool.onConfigurationChange(conf);
    assertEquals(7, pool.getCpuHeadroomCount());
    assertThrows(IllegalArgumentException.class, () -> new MultigetPool(conf));
    pool.shutdown();
  }
}
