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
package org.apache.hadoop.hbase.fs;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hdfs.ClientContext;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.util.ByteArrayManager;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests whose word counts on whether packets are pooled, and what the pool keeps. */
@Category({ IOTests.class, SmallTests.class })
public class TestHdfsPacketPool {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHdfsPacketPool.class);

  private static final int PACKET = 64 * 1024;
  private static final int HDFS_LIMIT = 2048;

  private final Configuration conf = HBaseConfiguration.create();

  /** Gives the process a default context as HDFS makes it. */
  @BeforeClass
  public static void makeContextWithoutPool() {
    HdfsConfiguration.init();
    assertFalse(pooled(HBaseConfiguration.create()));
  }

  @Test
  public void testOnByDefaultThoughHdfsDefaultsSayOff() {
    assertEquals("hdfs-default.xml", conf.getPropertySources(HdfsPacketPool.ENABLED_KEY)[0]);
    assertFalse(conf.getBoolean(HdfsPacketPool.ENABLED_KEY, true));
    HdfsPacketPool.configure(conf);
    assertTrue(conf.getBoolean(HdfsPacketPool.ENABLED_KEY, false));
  }

  @Test
  public void testTakesEffectThoughThereIsAContextWithoutPool() {
    HdfsPacketPool.configure(conf);
    assertTrue(pooled(conf));
  }

  @Test
  public void testContextThatPoolsIsUsed() {
    conf.set(HdfsPacketPool.CONTEXT_KEY, "new");
    HdfsPacketPool.configure(conf);
    assertTrue(pooled(conf));
    assertEquals("new", conf.get(HdfsPacketPool.CONTEXT_KEY));
  }

  @Test
  public void testContextThatTheOperatorNamesIsKept() {
    conf.set(HdfsPacketPool.CONTEXT_KEY, "default");
    HdfsPacketPool.configure(conf);
    assertEquals("default", conf.get(HdfsPacketPool.CONTEXT_KEY));
    assertFalse(pooled(conf));
  }

  /** A merged configuration keeps it, too. */
  @Test
  public void testOffIsKept() {
    Configuration inSite = HBaseConfiguration.create();
    site(inSite, HdfsPacketPool.ENABLED_KEY, "false");
    conf.setBoolean(HdfsPacketPool.ENABLED_KEY, false);
    for (Configuration off : new Configuration[] { inSite, conf,
      HBaseConfiguration.create(HBaseConfiguration.create(inSite)),
      HBaseConfiguration.create(conf) }) {
      HdfsPacketPool.configure(off);
      assertFalse(off.getBoolean(HdfsPacketPool.ENABLED_KEY, true));
      assertEquals("default", off.get(HdfsPacketPool.CONTEXT_KEY));
      assertEquals(HDFS_LIMIT, off.getInt(HdfsPacketPool.LIMIT_KEY, HDFS_LIMIT));
    }
  }

  @Test
  public void testLimitInASiteFileIsKept() {
    site(conf, HdfsPacketPool.LIMIT_KEY, "7");
    HdfsPacketPool.configure(conf);
    assertEquals(7, conf.getInt(HdfsPacketPool.LIMIT_KEY, 0));
    assertEquals("default", conf.get(HdfsPacketPool.CONTEXT_KEY));
    assertTrue(conf.getBoolean(HdfsPacketPool.ENABLED_KEY, false));
  }

  /** In a process of several servers, each has a copy of what another has configured. */
  @Test
  public void testWhatIsSetHereIsNotTheOperators() {
    HdfsPacketPool.configure(conf);
    Configuration copy = new Configuration(conf);
    assertFalse(HdfsPacketPool.isSetByOperator(copy, HdfsPacketPool.ENABLED_KEY));
    assertFalse(HdfsPacketPool.isSetByOperator(copy, HdfsPacketPool.LIMIT_KEY));
    copy.setInt(HdfsPacketPool.LIMIT_KEY, 7);
    assertTrue(HdfsPacketPool.isSetByOperator(copy, HdfsPacketPool.LIMIT_KEY));
  }

  /** Standalone mode and a mini cluster copy the configuration value by value. */
  @Test
  public void testDefaultOfHdfsIsNotTheOperatorsInAMergedConfiguration() {
    Configuration merged = HBaseConfiguration.create(HBaseConfiguration.create(conf));
    HdfsPacketPool.configure(merged);
    assertTrue(merged.getBoolean(HdfsPacketPool.ENABLED_KEY, false));
    assertTrue(pooled(merged));
  }

  /** Hadoop then has no value for it, but the source of the one that was. */
  @Test
  public void testUnsetIsNotTheOperators() {
    conf.setBoolean(HdfsPacketPool.ENABLED_KEY, false);
    conf.unset(HdfsPacketPool.ENABLED_KEY);
    HdfsPacketPool.configure(conf);
    assertTrue(pooled(conf));
  }

  @Test(timeout = 300_000)
  public void testNoOneWaitsForABufferToComeBack() throws Exception {
    conf.set(HdfsPacketPool.CONTEXT_KEY, "unlimited");
    HdfsPacketPool.configure(conf);
    ByteArrayManager manager = ClientContext.getFromConf(conf).getByteArrayManager();
    for (int i = 0; i < 3 * HDFS_LIMIT; i++) {
      manager.newByteArray(32);
    }
  }

  @Test
  public void testTrimKeepsTheBytesAllowed() throws Exception {
    ByteArrayManager manager =
      ByteArrayManager.newInstance(new ByteArrayManager.Conf(10, Integer.MAX_VALUE, 10000));
    fill(manager, PACKET, 20);
    fill(manager, 64, 20);
    // One of each size stays, which is what the next look at it would make otherwise.
    assertEquals(19 * 64, HdfsPacketPool.trim(manager, PACKET, 20 * PACKET));
    assertEquals(15 * PACKET, HdfsPacketPool.trim(manager, PACKET, 5 * PACKET));
    assertEquals(5, manager.release(manager.newByteArray(PACKET)));
    assertEquals(0, HdfsPacketPool.trim(manager, PACKET, 5 * PACKET));
    fill(manager, PACKET, 7);
    assertEquals(7, manager.release(manager.newByteArray(PACKET)));
  }

  @Test
  public void testTrimStartsNoPool() throws Exception {
    ByteArrayManager manager =
      ByteArrayManager.newInstance(new ByteArrayManager.Conf(128, Integer.MAX_VALUE, 10000));
    assertEquals(0, HdfsPacketPool.trim(manager, PACKET, 0));
    assertEquals(-1, manager.release(manager.newByteArray(PACKET)));
  }

  private static void fill(ByteArrayManager manager, int length, int count)
    throws InterruptedException {
    List<byte[]> buffers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      buffers.add(manager.newByteArray(length));
    }
    buffers.forEach(manager::release);
  }

  private static void site(Configuration of, String key, String value) {
    of.addResource(new ByteArrayInputStream(("<configuration><property><name>" + key
      + "</name><value>" + value + "</value></property></configuration>")
      .getBytes(StandardCharsets.UTF_8)), "hdfs-site.xml");
  }

  private static boolean pooled(Configuration conf) {
    return HdfsPacketPool.isPooled(ClientContext.getFromConf(conf).getByteArrayManager());
  }
}
