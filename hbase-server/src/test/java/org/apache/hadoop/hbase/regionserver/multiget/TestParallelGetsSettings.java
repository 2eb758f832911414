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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.Metric;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/** The settings of parallel multigets, also when they change at run time, and the metrics. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsSettings extends ParallelGetsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsSettings.class);

  private final Configuration conf = new Configuration(false);

  private static long published(String metric) {
    MetricRegistry registry = MetricRegistries.global().get(MultigetMetrics.INFO).get();
    Metric found = registry.get(metric).get();
    return found instanceof Counter
      ? ((Counter) found).getCount()
      : (Long) ((Gauge<?>) found).getValue();
  }

  @Test
  public void testWhatIsDoneIsPublished() throws Exception {
    pool.shutdown();
    Configuration ten = settings(4);
    ten.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool = new MultigetPool(ten);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(4, workersAtOnce(4));
    assertEquals(1, published("SmallBatchCount"));
    assertEquals(1, published("ParallelBatchCount"));
    assertEquals(0, published("BusyBatchCount"));
    assertEquals(0, published("CpuBoundBatchCount"));
    assertEquals(0, published("DeviceBatchCount"));
    assertEquals(1, published("WindowAdvanceCount"));
    assertEquals(60, published("HandlerGetCount") + published("HelperGetCount"));
    assertEquals(4, published("HandoffCount"));
    assertEquals(0, published("SpuriousHandoffCount"));
    assertTrue(published("HandoffWaitMicros") > 0);
    assertEquals(0, published("PendingHandoffCount"));
    assertEquals(4, published("ThreadCount"));
    assertEquals(0, published("FailedThreadCount"));
    assertEquals(4, published("CpuHeadroomCount"));
    assertEquals(0, published("ExpectedCount"));
    assertEquals(0, published("SharedBlockCount"));
  }

  /** A counter that falls would be taken for a restart. */
  @Test
  public void testValuesThatFallAreGauges() {
    MetricRegistry registry = MetricRegistries.global().get(MultigetMetrics.INFO).get();
    Set<String> gauges = new TreeSet<>();
    registry.getMetrics().forEach((name, metric) -> {
      if (metric instanceof Gauge) {
        gauges.add(name);
      }
    });
    assertEquals(
      new TreeSet<>(Arrays.asList("CpuHeadroomCount", "PendingHandoffCount", "ThreadCount")),
      gauges);
  }

  @Test
  public void testWhatIsTooSmallIsLeftAlone() throws Exception {
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(1, pool.get(Count.SmallBatchCount));
    List<Action> interrupted = gets(9);
    interrupted.add(increment(9));
    interrupted.addAll(gets(9));
    assertNull(start(interrupted, (get, as) -> result(get)));
    serve(gets(10), (get, as) -> result(get));
    assertEquals(1, pool.get(Count.ParallelBatchCount));
    conf.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(100), (get, as) -> result(get)));
  }

  @Test
  public void testAllSettingsMayChangeAtRunTime() throws Exception {
    Configuration changed = settings(4);
    assertEquals(4, workersAtOnce(4));
    changed.setInt(MultigetSettings.THREADS_KEY, 2);
    pool.onConfigurationChange(changed);
    waitUntil(() -> pool.getThreadCount() == 2);
    assertEquals(2, workersAtOnce(2));
    changed.setInt(MultigetSettings.THREADS_KEY, 5);
    changed.setInt(MultigetSettings.MAX_TASKS_KEY, 4);
    pool.onConfigurationChange(changed);
    assertEquals(3, workersAtOnce(3));
    changed.setInt(MultigetSettings.MAX_TASKS_KEY, 1);
    pool.onConfigurationChange(changed);
    assertEquals(0, workersAtOnce(0));
    changed.setInt(MultigetSettings.MIN_BATCH_KEY, 61);
    pool.onConfigurationChange(changed);
    assertNull(start(gets(60), (get, as) -> result(get)));
    changed.setInt(MultigetSettings.MIN_BATCH_KEY, 60);
    changed.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(changed);
    assertNull(start(gets(60), (get, as) -> result(get)));
    changed.setBoolean(MultigetSettings.ENABLED_KEY, true);
    changed.unset(MultigetSettings.MAX_TASKS_KEY);
    pool.onConfigurationChange(changed);
    assertEquals(5, workersAtOnce(5));
  }

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
    pool.shutdown();
    pool = new MultigetPool(conf, Thread::new, threads -> null);
    conf.set(MultigetSettings.THREADS_KEY, "7");
    pool.onConfigurationChange(conf);
    assertEquals(7, pool.getCpuHeadroomCount());
    conf.set(MultigetSettings.THREADS_KEY, "0");
    pool.onConfigurationChange(conf);
    assertEquals(7, pool.getCpuHeadroomCount());
    assertThrows(IllegalArgumentException.class, () -> new MultigetPool(conf));
  }
}
