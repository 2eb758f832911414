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
package org.apache.hadoop.hbase.master.balancer;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.testclassification.MasterTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A balancer that knows what is cached where counts on it if L2 is persisted. */
@Category({ MasterTests.class, SmallTests.class })
public class TestCompositeBucketCacheBalancing {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheBalancing.class);

  private final Configuration conf = HBaseConfiguration.create();

  private float multiplier() {
    return new CacheAwareLoadBalancer.CacheAwareCostFunction(conf).getMultiplier();
  }

  @Test
  public void testPersistedSecondTierCounts() {
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    assertEquals(0f, multiplier(), 0f);
    conf.set("hbase.bucketcache.l2.persistent.path", "/ssd/map");
    assertTrue(multiplier() > 0);
  }

  @Test
  public void testKeysOfACompositeThatIsOffDoNot() {
    conf.set("hbase.bucketcache.l2.persistent.path", "/ssd/map");
    assertEquals(0f, multiplier(), 0f);
  }
}
