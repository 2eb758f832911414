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
package org.apache.hadoop.hbase.regionserver.http;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.load.HandoverMetrics;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCache;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Runs in its own JVM, since metrics are per JVM. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMetricsSection {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMetricsSection.class);

  @Test
  public void testRowCacheIsThereWithTheCache() {
    assertEquals("", MetricsSection.of("Row cache", "RowCache"));
    RowCache cache = new RowCache(2 << 20, 1024);
    for (int i = 0; i < 4; i++) {
      cache.countLookup(i > 0);
    }
    String html = MetricsSection.of("Row cache", "RowCache");
    assertTrue(html, html.contains("<div class=\"table-responsive\">\n<table "));
    assertTrue(html, html.contains("Size bytes</td><td class=\"n\">2 MB"));
    assertTrue(html, html.contains("Hit count</td><td class=\"n\">3<"));
    assertTrue(html, html.contains("Miss count</td><td class=\"n\">1<"));
    assertTrue(html, html.contains("Hit ratio</td><td class=\"n\">75"));
    assertTrue("with tiers or without",
      BlockCacheTiersPage.withoutTiers("server").contains("<h2>Row cache</h2>"));
  }

  @Test
  public void testHandoverIsThereAfterTheFirst() {
    HandoverMetrics.get().count(HandoverMetrics.Count.ColdBlockCount, 4567);
    HandoverMetrics.get().count(HandoverMetrics.Count.L2Bytes, 5 << 20);
    String html = handover();
    assertTrue(html, html.contains("L2 bytes</td><td class=\"n\">5 MB"));
    assertTrue(html, html.contains("Cold block count</td><td class=\"n\">4,567<"));
    assertTrue(html, html.contains("sub=CacheHandover"));
    assertTrue("on the page",
      BlockCacheTiersPage.withoutTiers("server").contains("<h2>Cache hand-over</h2>"));
  }

  @Test
  public void testEveryMetricIsThere() {
    HandoverMetrics.get().count(HandoverMetrics.Count.CompactionCount, 1);
    String html = handover();
    for (HandoverMetrics.Count count : HandoverMetrics.Count.values()) {
      assertTrue(count + " is not shown",
        html.contains(">" + StatusTable.words(count.name()) + "<"));
    }
  }

  private static String handover() {
    return MetricsSection.of("Cache hand-over", "CacheHandover");
  }
}
