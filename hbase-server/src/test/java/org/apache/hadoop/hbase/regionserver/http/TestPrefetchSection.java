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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress.Snapshot;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchScheduler;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchSettings;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * The status page and the metrics of a RegionServer before it has prefetched a file, while it does
 * under a limit that is changed meanwhile, and afterwards. One test only: the metrics system does
 * not come up twice in a process.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestPrefetchSection {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchSection.class);

  private static final TableName TABLE = TableName.valueOf("a_table");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int ROWS = 2000;

  private HBaseTestingUtility util;
  private Configuration conf;
  private int port;

  @Before
  public void setUp() throws Exception {
    util = new HBaseTestingUtility();
    conf = util.getConfiguration();
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, 0);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    util.startMiniCluster(1);
    port = util.getHBaseCluster().getRegionServer(0).getInfoServer().getPort();
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  private String get(String path) throws IOException {
    HttpURLConnection connection =
      (HttpURLConnection) new URL("http://localhost:" + port + path).openConnection();
    assertEquals(200, connection.getResponseCode());
    try (InputStream in = connection.getInputStream()) {
      return IOUtils.toString(in, StandardCharsets.UTF_8);
    }
  }

  private JsonObject metrics() throws IOException {
    JsonElement beans = JsonParser
      .parseString(get("/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Prefetch"))
      .getAsJsonObject().get("beans");
    return beans.getAsJsonArray().size() == 0 ? null
      : beans.getAsJsonArray().get(0).getAsJsonObject();
  }

  private long metric(String name) throws IOException {
    JsonElement value = metrics().get(name);
    return value == null ? Long.MIN_VALUE : value.getAsLong();
  }

  private void configure(String value) throws Exception {
    HRegionServer server = util.getHBaseCluster().getRegionServer(0);
    if (value == null) {
      server.getConfiguration().unset(PrefetchSettings.LIMIT_KEY);
    } else {
      server.getConfiguration().set(PrefetchSettings.LIMIT_KEY, value);
    }
    util.getAdmin().updateConfiguration(server.getServerName());
  }

  @Test
  public void testProgressIsShownWhileThereIsAny() throws Exception {
    assertFalse(get("/rs-status").contains("<h3>Prefetch</h3>"));
    util.getAdmin().createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setPrefetchBlocksOnOpen(true).build())
      .build());
    byte[] value = new byte[1000];
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      puts.add(new Put(Bytes.toBytes(i)).addColumn(FAMILY, null, value));
    }
    try (Table table = util.getConnection().getTable(TABLE)) {
      table.put(puts);
    }

    configure("0.1");
    util.flush(TABLE);
    PrefetchScheduler warmUps = PrefetchScheduler.get();
    Waiter.waitFor(conf, 120_000,
      () -> warmUps.progress().snapshot().secondsToGo() > 0);
    Snapshot now = warmUps.progress().snapshot();
    assertEquals(1, now.total().queuedFiles());
    assertEquals(1, now.tables().get("a_table").queuedFiles());
    assertEquals(now.toString(), (1 << 20) / 10, now.limit());
    String page = get("/rs-status");
    assertTrue(page.contains("<h3>Prefetch</h3>"));
    assertTrue(page, page.contains("<p>1 file with ") && page.contains("limit 102.4 KB/s"));
    assertTrue(page.contains("<td class=\"w\">a_table</td>"));
    save("working", page);

    // A wrong value changes nothing, a right one holds at once.
    configure("a lot");
    assertEquals((1 << 20) / 10, warmUps.settings().bytesPerSecond());
    configure(null);
    Waiter.waitFor(conf, 120_000,
      () -> warmUps.progress().snapshot().total().prefetchedFiles() == 1);
    Waiter.waitFor(conf, 120_000, () -> metrics() != null && metric("PrefetchedFileCount") == 1);
    now = warmUps.progress().snapshot();
    assertTrue(now.total().prefetchedBytes() > ROWS * value.length);
    assertEquals(0, now.total().queuedFiles());
    assertEquals(now.total().prefetchedBytes(), metric("PrefetchedBytes"));
    assertEquals(0, metric("LimitBytesPerSecond"));
    assertEquals(0, metric("SecondsToGo"));
    assertEquals(1, metric("Namespace_default_table_a_table_metric_PrefetchedFileCount"));
    page = get("/rs-status");
    assertTrue(page, page.contains("No file is queued."));
    save("idle", page);
  }

  /** Leaves the page to be looked at. */
  private void save(String name, String page) throws IOException {
    Files.createDirectories(Paths.get("target"));
    Files.write(Paths.get("target", "warm-up-" + name + ".html"),
      page.getBytes(StandardCharsets.UTF_8));
  }
}
