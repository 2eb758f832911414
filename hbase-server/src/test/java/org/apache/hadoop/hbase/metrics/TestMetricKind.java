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
package org.apache.hadoop.hbase.metrics;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.metrics.impl.HBaseMetrics2HadoopMetricsAdapter;
import org.apache.hadoop.hbase.testclassification.MetricsTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.metrics2.AbstractMetric;
import org.apache.hadoop.metrics2.MetricType;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The types that HBase gives to the metrics, which are those of /prometheus. */
@Category({ MetricsTests.class, SmallTests.class })
public class TestMetricKind {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMetricKind.class);

  private final MetricRegistryInfo info =
    new MetricRegistryInfo("Some", "Some metrics", "RegionServer,sub=Some", "regionserver", false);
  private final MetricRegistry registry = MetricRegistries.global().create(info);

  private Map<String, AbstractMetric> snapshot() {
    MetricsCollectorImpl collector = new MetricsCollectorImpl();
    new HBaseMetrics2HadoopMetricsAdapter().snapshotAllMetrics(registry,
      (MetricsCollector) collector);
    Map<String, AbstractMetric> metrics = new HashMap<>();
    for (MetricsRecord record : (Collection<? extends MetricsRecord>) collector.getRecords()) {
      record.metrics().forEach(metric -> metrics.put(metric.name(), metric));
    }
    return metrics;
  }

  @Test
  public void testTypesAndValues() {
    AtomicLong value = new AtomicLong(5);
    MetricKind.GAUGE.register(registry, "Depth", value::get);
    MetricKind.COUNTER.register(registry, "Total", value::get);
    value.set(7);
    Map<String, AbstractMetric> metrics = snapshot();
    assertEquals(MetricType.GAUGE, metrics.get("Depth").type());
    assertEquals(MetricType.COUNTER, metrics.get("Total").type());
    assertEquals(7L, metrics.get("Depth").value());
    assertEquals(7L, metrics.get("Total").value());
    MetricRegistries.global().remove(info);
  }

  @Test
  public void testRegisteringAgainReplacesTheFormerMetric() {
    MetricKind.COUNTER.register(registry, "Again", () -> 1);
    MetricKind.COUNTER.register(registry, "Again", () -> 2);
    assertEquals(2L, ((Counter) registry.get("Again").get()).getCount());
    assertTrue(registry.get("Again").get() instanceof Counter);
    MetricRegistries.global().remove(info);
  }
}
