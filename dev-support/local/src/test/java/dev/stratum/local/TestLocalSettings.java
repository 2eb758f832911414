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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.local.RunLocal.Failure;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;

public class TestLocalSettings {
  private static final Path FOLDER = Path.of("/somewhere else/local");

  private static Configuration create(String... settings) {
    return LocalSettings.create(FOLDER, 64, 128, settings);
  }

  private static void assertRefused(String sentence, ThrowingRunnable check) {
    assertEquals(sentence, assertThrows(Failure.class, check).getMessage());
  }

  @Test
  public void testTwoTiersOfBucketCacheAreTheDefault() {
    Configuration conf = create();
    assertTrue(conf.getBoolean("hbase.bucketcache.composite.enabled", false));
    assertEquals(0f, conf.getFloat("hfile.block.cache.size", 1f), 0f);
    assertEquals("offheap", conf.get("hbase.bucketcache.l1.ioengine"));
    assertEquals(64, conf.getInt("hbase.bucketcache.l1.size", 0));
    assertEquals("file:/somewhere else/local/l2.cache", conf.get("hbase.bucketcache.l2.ioengine"));
    assertEquals(128, conf.getInt("hbase.bucketcache.l2.size", 0));
  }

  @Test
  public void testWithoutTheCompositeTheSizesAreThoseOfHeapAndBucketCache() {
    Configuration conf = create("hbase.bucketcache.composite.enabled=false");
    double heapMb = Runtime.getRuntime().maxMemory() / 1048576.0;
    assertEquals(64, conf.getFloat("hfile.block.cache.size", 0f) * heapMb, 0.1);
    assertEquals("file:/somewhere else/local/l2.cache", conf.get("hbase.bucketcache.ioengine"));
    assertEquals(128, conf.getInt("hbase.bucketcache.size", 0));
    assertNull(conf.get("hbase.bucketcache.l1.size"));
  }

  @Test
  public void testGivenKeysWinWithAllOfTheirValues() {
    Configuration conf = create("hbase.bucketcache.l1.size=77", "a.b=c=d\ne");
    assertEquals(77, conf.getInt("hbase.bucketcache.l1.size", 0));
    assertEquals("c=d\ne", conf.get("a.b"));
  }

  @Test
  public void testEveryFolderIsInTheOneFolder() {
    Configuration conf = create();
    for (String key : Set.of("hbase.rootdir", "hbase.tmp.dir", "hadoop.tmp.dir",
      "hbase.zookeeper.property.dataDir")) {
      assertTrue(key + "=" + conf.get(key),
        conf.get(key).replaceFirst("^file://", "").startsWith(FOLDER + "/"));
    }
  }

  @Test
  public void testPortInUseIsNamedWithItsKeyAndTheRemedyUnlessItIsReplaced() throws Exception {
    try (ServerSocket loopback = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      ServerSocket everywhere = new ServerSocket(0)) {
      for (int port : List.of(loopback.getLocalPort(), everywhere.getLocalPort())) {
        Configuration conf = create("hbase.localcluster.assign.random.ports=true",
          "hbase.zookeeper.property.clientPort=" + port);
        assertRefused("Port " + port + " (hbase.zookeeper.property.clientPort) is in use; stop"
          + " what listens there or choose another one with"
          + " -Dhbase.zookeeper.property.clientPort=PORT.", () -> LocalSettings.checkPorts(conf));
        conf.set("hbase.zookeeper.property.clientPort", "-1");
        LocalSettings.checkPorts(conf);
        conf.setInt("hbase.master.port", port);
        assertThrows(Failure.class, () -> LocalSettings.checkPorts(conf));
      }
    }
  }

  @Test
  public void testTooLittleMemoryIsReportedWithItsParts() throws Exception {
    LocalSettings.checkMemory(1024, 768, 2092);
    assertRefused("Too little memory: 2092 MB are needed (heap 1024, direct 768, the JVM itself"
      + " 300) and 2091 MB are available; choose a smaller --l1-mb or stop other programs.",
      () -> LocalSettings.checkMemory(1024, 768, 2091));
  }

  @Test
  public void testTooLittleDiskIsReportedWithTheFolder() throws Exception {
    LocalSettings.checkDisk(FOLDER, 10, 10);
    assertRefused("Too little disk space: 11 MB are needed in /somewhere else/local and 10 MB are"
      + " free; choose a smaller --rows or --l2-mb.",
      () -> LocalSettings.checkDisk(FOLDER, 11, 10));
  }
}
