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
package org.apache.hadoop.hbase.regionserver.operations;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.http.FilterContainer;
import org.apache.hadoop.hbase.http.FilterInitializer;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchMetrics.Count;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchScheduler;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchSettings;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
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
 * The page of the features beside the pages that are there, and the metrics of a prefetch, whose
 * limit is changed meanwhile, and of the tiers. One test only: the metrics system does not come up
 * twice in a process.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestFeaturesPage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFeaturesPage.class);

  private static final TableName TABLE = TableName.valueOf("some.table");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int ROWS = 300;
  private static final TableName PREFETCHED = TableName.valueOf("a_table");
  private static final int PREFETCHED_ROWS = 2000;
  private static final String USER_HEADER = "X-Test-User";

  private HBaseTestingUtility util;
  private Configuration conf;

  /** Lets those in who say who they are. */
  public static class SomebodyFilter extends FilterInitializer implements Filter {
    @Override
    public void initFilter(FilterContainer container, Configuration conf) {
      container.addGlobalFilter("somebody", SomebodyFilter.class.getName(), null);
    }

    @Override
    public void init(FilterConfig config) {
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
      throws IOException, ServletException {
      if (((HttpServletRequest) request).getHeader(USER_HEADER) == null) {
        ((HttpServletResponse) response).sendError(HttpServletResponse.SC_FORBIDDEN);
        return;
      }
      chain.doFilter(request, response);
    }

    @Override
    public void destroy() {
    }
  }

  private static final class Page {
    private int status;
    private String type;
    private String text;
  }

  @Before
  public void setUp() {
    util = new HBaseTestingUtility();
    conf = util.getConfiguration();
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, 0);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  private void start() throws Exception {
    Path folder = util.getDataTestDir();
    util.getTestFileSystem().mkdirs(folder);
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + folder + "/l2");
    conf.setInt("hfile.index.block.max.size", 512);
    conf.set("hbase.http.filter.initializers", SomebodyFilter.class.getName());
    util.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(1).build());
  }

  private HRegionServer server() {
    return util.getMiniHBaseCluster().getRegionServer(0);
  }

  private Page get(String path, boolean asSomebody) throws Exception {
    HttpURLConnection connection = (HttpURLConnection) new URL(
      "http://localhost:" + server().getInfoServer().getPort() + path).openConnection();
    connection.setInstanceFollowRedirects(false);
    if (asSomebody) {
      connection.setRequestProperty(USER_HEADER, "somebody");
    }
    Page page = new Page();
    page.status = connection.getResponseCode();
    page.type = connection.getContentType();
    try (InputStream in =
      page.status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      page.text = in == null ? "" : IOUtils.toString(in, StandardCharsets.UTF_8);
    }
    return page;
  }

  private Page getExisting(String path) throws Exception {
    Page page = get(path, true);
    assertEquals(path + ": " + page.text, 200, page.status);
    return page;
  }

  private static void put(Table table, int rows, int valueSize) throws IOException {
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      puts.add(new Put(Bytes.toBytes(i)).addColumn(FAMILY, FAMILY, new byte[valueSize]));
    }
    table.put(puts);
  }

  private void loadAndRead(Table table) throws Exception {
    put(table, ROWS, 500);
    util.flush(TABLE);
    readAll(table);
    readAll(table);
  }

  private static void readAll(Table table) throws Exception {
    for (int i = 0; i < ROWS; i++) {
      assertFalse(table.get(new Get(Bytes.toBytes(i))).isEmpty());
    }
  }

  private JsonObject prefetchMetrics() throws Exception {
    JsonElement beans = JsonParser.parseString(
      getExisting("/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Prefetch").text)
      .getAsJsonObject().get("beans");
    return beans.getAsJsonArray().size() == 0
      ? new JsonObject()
      : beans.getAsJsonArray().get(0).getAsJsonObject();
  }

  private long prefetchMetric(String name) throws Exception {
    JsonElement value = prefetchMetrics().get(name);
    return value == null ? Long.MIN_VALUE : value.getAsLong();
  }

  private void limitPrefetch(String value) throws Exception {
    if (value == null) {
      server().getConfiguration().unset(PrefetchSettings.LIMIT_KEY);
    } else {
      server().getConfiguration().set(PrefetchSettings.LIMIT_KEY, value);
    }
    util.getAdmin().updateConfiguration(server().getServerName());
  }

  private void assertPrefetchIsShownWhileThereIsAny() throws Exception {
    assertFalse(getExisting("/features").text.contains("<h2>Prefetch into the block cache</h2>"));
    util.getAdmin().createTable(TableDescriptorBuilder.newBuilder(PREFETCHED)
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setPrefetchBlocksOnOpen(true).build())
      .build());
    try (Table table = util.getConnection().getTable(PREFETCHED)) {
      put(table, PREFETCHED_ROWS, 1000);
    }
    limitPrefetch("0.1");
    util.flush(PREFETCHED);
    PrefetchScheduler prefetch = PrefetchScheduler.get();
    PrefetchProgress progress = prefetch.progress();
    util.waitFor(120_000, () -> progress.get(Count.PrefetchedBytes) > 0);
    assertEquals(1, progress.get(Count.QueuedFileCount));
    assertEquals((1 << 20) / 10, progress.limit());
    String page = getExisting("/features").text;
    assertTrue(page, page.contains("<h2>Prefetch into the block cache</h2>"));
    assertTrue(page, page.contains("<td>LimitBytesPerSecond</td><td>104857</td>"));

    // A wrong value changes nothing, a right one holds at once.
    limitPrefetch("a lot");
    assertEquals((1 << 20) / 10, prefetch.settings().bytesPerSecond());
    limitPrefetch(null);
    util.waitFor(120_000, () -> prefetchMetric("PrefetchedFileCount") == 1);
    assertTrue(progress.get(Count.PrefetchedBytes) > PREFETCHED_ROWS * 1000);
    assertEquals(0, progress.get(Count.QueuedFileCount));
    assertEquals(progress.get(Count.PrefetchedBytes), prefetchMetric("PrefetchedBytes"));
    assertEquals(0, prefetchMetric("LimitBytesPerSecond"));
    page = getExisting("/features").text;
    assertTrue(page, page.contains("<td>QueuedFileCount</td><td>0</td>"));
  }

  @Test
  public void testShowsMetricsOfARunningServer() throws Exception {
    start();
    assertPrefetchIsShownWhileThereIsAny();
    assertClosedToWhomTheStatusPageIsClosed();
    try (Table table = util.createTable(TABLE, FAMILY)) {
      loadAndRead(table);
      Page page = getExisting("/features");
      assertEquals("text/html;charset=utf-8", page.type.toLowerCase());
      assertTrue(page.text, page.text.contains(server().getServerName().toString()));
      assertFramedAsOtherPages(page.text);
      assertTrue(getExisting("/rs-status").text.contains("<a href=\"/features\">"));
      assertMetricsAreShown(page.text);
    }
  }

  private void assertClosedToWhomTheStatusPageIsClosed() throws Exception {
    for (String path : new String[] { "/rs-status", "/features" }) {
      assertEquals(path, 403, get(path, false).status);
      assertEquals(path, 200, get(path, true).status);
    }
  }

  /** Checks that all that the page refers to is on this server. */
  private void assertFramedAsOtherPages(String page) throws Exception {
    assertTrue(page, page.trim().startsWith("<!DOCTYPE html>"));
    assertTrue(page, page.trim().endsWith("</html>"));
    assertEquals(page, 1, page.split("<body", -1).length - 1);
    assertTrue(page, page.contains("href=\"/processRS.jsp\""));
    Set<String> resources = new TreeSet<>();
    Matcher reference = Pattern.compile("(?:src|<link href)=\"([^\"]*)\"").matcher(page);
    while (reference.find()) {
      assertTrue(reference.group(1), reference.group(1).startsWith("/static/"));
      resources.add(reference.group(1));
    }
    assertTrue(resources.toString(), resources.contains("/static/css/hbase.css"));
    for (String resource : resources) {
      getExisting(resource);
    }
  }

  /** Each metric is on the page, in JMX, and at /prometheus under a name that Prometheus takes. */
  private void assertMetricsAreShown(String page) throws Exception {
    String bean = "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers";
    MetricRegistry registry = registryOfTiers();
    // The metrics system looks for new sources, and keeps what it read, for ten seconds each.
    util.waitFor(60_000, 500, () -> get(bean, true).text.contains("\"L1HitCount\""));
    String jmx = getExisting(bean).text;
    String prometheus = getExisting("/prometheus").text;
    Set<String> lines = new TreeSet<>();
    Matcher line =
      Pattern.compile("(?m)^block_cache_tiers_([a-z][a-z0-9_]*)\\{[^}]*\\} \\d+$")
        .matcher(prometheus);
    while (line.find()) {
      lines.add(line.group(1));
    }
    assertEquals(registry.getMetrics().keySet().toString(), registry.getMetrics().size(),
      lines.size());
    for (String name : registry.getMetrics().keySet()) {
      assertTrue(name, jmx.contains("\"" + name + "\""));
      assertTrue(name, page.contains("<td>" + name + "</td>"));
    }
    assertTrue(lines.toString(), lines.contains("l1hit_count"));
    assertTrue(lines.toString(), lines.contains("l2read_nanos_99_9th_percentile"));
  }

  private static MetricRegistry registryOfTiers() {
    for (MetricRegistryInfo info : MetricRegistries.global().getMetricRegistryInfos()) {
      if (info.getMetricsName().equals("BlockCacheTiers")) {
        return MetricRegistries.global().get(info).get();
      }
    }
    return null;
  }
}
