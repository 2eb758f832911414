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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;

public class TestLocalSettings {
  private static final Path FOLDER = Path.of("/somewhere else/local");

  private static Configuration create(Map<String, String> overrides) {
    return LocalSettings.create(FOLDER, 64, 128, overrides);
  }

  @Test
  public void testTwoTiersOfBucketCacheAreTheDefault() {
    Configuration conf = create(Map.of());
    assertTrue(conf.getBoolean("hbase.bucketcache.composite.enabled", false));
    assertEquals(0f, conf.getFloat("hfile.block.cache.size", 1f), 0f);
    assertEquals("offheap", conf.get("hbase.bucketcache.l1.ioengine"));
    assertEquals(64, conf.getInt("hbase.bucketcache.l1.size", 0));
    assertEquals("file:/somewhere else/local/l2.cache", conf.get("hbase.bucketcache.l2.ioengine"));
    assertEquals(128, conf.getInt("hbase.bucketcache.l2.size", 0));
  }

  @Test
  public void testWithoutTheCompositeTheSizesGoToHeapAndBucketCache() {
    Configuration conf = create(Map.of("hbase.bucketcache.composite.enabled", "false"));
    double heapMb = Runtime.getRuntime().maxMemory() / 1048576.0;
    assertEquals(64, conf.getFloat("hfile.block.cache.size", 0f) * heapMb, 0.1);
    assertEquals("file:/somewhere else/local/l2.cache", conf.get("hbase.bucketcache.ioengine"));
    assertEquals(128, conf.getInt("hbase.bucketcache.size", 0));
    assertNull(conf.get("hbase.bucketcache.l1.size"));
  }

  @Test
  public void testGivenKeysWin() {
    Configuration conf = create(
      Map.of("hbase.bucketcache.l1.size", "77", "hbase.zookeeper.property.clientPort", "12345"));
    assertEquals(77, conf.getInt("hbase.bucketcache.l1.size", 0));
    assertEquals(12345, (int) LocalSettings.fixedPorts(conf)
      .get("hbase.zookeeper.property.clientPort"));
  }

  @Test
  public void testEveryFolderIsInTheOneFolder() {
    Configuration conf = create(Map.of());
    for (String key : Set.of("hbase.rootdir", "hbase.tmp.dir", "hadoop.tmp.dir",
      "hbase.zookeeper.property.dataDir")) {
      assertTrue(key + "=" + conf.get(key),
        conf.get(key).replaceFirst("^file://", "").startsWith(FOLDER + "/"));
    }
  }

  @Test
  public void testStandardPortsAreCheckedUnlessTheyAreChosenFreely() {
    assertEquals(Map.of("hbase.zookeeper.property.clientPort", 2181, "hbase.master.port", 16000,
      "hbase.master.info.port", 16010, "hbase.regionserver.port", 16020,
      "hbase.regionserver.info.port", 16030), LocalSettings.fixedPorts(create(Map.of())));
    assertEquals(Map.of("hbase.zookeeper.property.clientPort", 2181, "hbase.master.port", 7),
      LocalSettings.fixedPorts(create(
        Map.of("hbase.localcluster.assign.random.ports", "true", "hbase.master.port", "7"))));
  }

  @Test
  public void testPortThatIsSwitchedOffIsNotChecked() {
    assertFalse(LocalSettings.fixedPorts(create(Map.of("hbase.master.info.port", "-1")))
      .containsKey("hbase.master.info.port"));
  }
}
