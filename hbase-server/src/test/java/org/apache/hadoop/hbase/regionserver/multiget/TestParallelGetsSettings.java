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
import static org.junit.Assert.assertNull;
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
    Configuration conf = settings(4);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool = new MultigetPool(conf);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(4, helpersAtOnce(4));
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

  /** Those that fall as well as rise; a counter that falls is taken for a restart. */
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
    Configuration conf = new Configuration(false);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 10);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(9), (get, as) -> result(get)));
    assertEquals(1, pool.getSmallBatchCount());
    List<Action> interrupted = gets(9);
    interrupted.add(increment(9));
    interrupted.addAll(gets(9));
    assertNull(start(interrupted, (get, as) -> result(get)));
    serve(gets(10), (get, as) -> result(get));
    assertEquals(1, pool.getParallelBatchCount());
    conf.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(100), (get, as) -> result(get)));
  }

  @Test
  public void testAllSettingsMayChangeAtRunTime() throws Exception {
    Configuration conf = settings(4);
    assertEquals(4, helpersAtOnce(4));
    conf.setInt(MultigetSettings.THREADS_KEY, 2);
    pool.onConfigurationChange(conf);
    waitUntil(() -> pool.getThreadCount() == 2);
    assertEquals(2, helpersAtOnce(2));
    conf.setInt(MultigetSettings.THREADS_KEY, 5);
    conf.setInt(MultigetSettings.MAX_TASKS_KEY, 4);
    pool.onConfigurationChange(conf);
    assertEquals(3, helpersAtOnce(3));
    conf.setInt(MultigetSettings.MAX_TASKS_KEY, 1);
    pool.onConfigurationChange(conf);
    assertEquals(0, helpersAtOnce(0));
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 61);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(60), (get, as) -> result(get)));
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 60);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, false);
    pool.onConfigurationChange(conf);
    assertNull(start(gets(60), (get, as) -> result(get)));
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.unset(MultigetSettings.MAX_TASKS_KEY);
    pool.onConfigurationChange(conf);
    assertEquals(5, helpersAtOnce(5));
  }
}
