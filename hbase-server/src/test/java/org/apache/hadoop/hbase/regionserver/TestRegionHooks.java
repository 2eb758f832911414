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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RegionRows;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.security.access.AccessChecker;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.hadoop.hbase.security.access.ZKPermissionWatcher;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Coprocessors that are loaded, replaced or removed while their region is read. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRegionHooks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionHooks.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("row");

  /** Keeps one version in what it observes. */
  public static final class Keeping implements RegionObserver {
    @Override
    public void preStoreScannerOpen(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, ScanOptions options) {
      options.setMaxVersions(1);
    }
  }

  /** Observes reads. */
  public static final class Scans implements RegionCoprocessor {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(new Keeping());
    }
  }

  /** Observes nothing at first. */
  public static final class Late implements RegionCoprocessor {
    private static boolean observes;

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return observes ? Optional.of(new Keeping()) : Optional.empty();
    }
  }

  private static final class First {
    /** Observes nothing. */
    public static final class Same implements RegionCoprocessor {
    }
  }

  private static final class Second {
    /** Observes reads, and has the simple name of another class. */
    public static final class Same implements RegionCoprocessor {
      @Override
      public Optional<RegionObserver> getRegionObserver() {
        return Optional.of(new Keeping());
      }
    }
  }

  /** Has a flush drop all cells, and fails if it is told to, upon which it is removed. */
  public static final class Dropping implements RegionCoprocessor, RegionObserver {
    private static boolean fails;

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preFlushScannerOpen(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, ScanOptions options, FlushLifeCycleTracker tracker) {
      options.setTTL(1);
    }

    @Override
    public void postOpen(ObserverContext<RegionCoprocessorEnvironment> context) {
      if (fails) {
        throw new IllegalStateException();
      }
    }
  }

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final RegionServerServices services = mock(RegionServerServices.class);
  private HRegion region;

  @Before
  public void setUp() throws IOException {
    RegionRows.forgetCache();
    Late.observes = false;
    Dropping.fails = false;
    when(services.getZKPermissionWatcher()).thenReturn(mock(ZKPermissionWatcher.class));
    when(services.getAccessChecker()).thenReturn(mock(AccessChecker.class));
    Configuration conf = util.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(RowCacheSettings.SIZE_KEY, 1);
    conf.setBoolean("hbase.coprocessor.abortonerror", false);
    TableName name = TableName.valueOf("hooks");
    region = HBaseTestingUtility.createRegionAndWAL(RegionInfoBuilder.newBuilder(name).build(),
      util.getDataTestDir(), conf,
      TableDescriptorBuilder.newBuilder(name).setValue(RowCacheSettings.TABLE_ATTRIBUTE, "true")
        .setColumnFamily(
          ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setMaxVersions(3).build())
        .build());
    replace();
    for (long time = 1; time <= 3; time++) {
      region.put(new Put(ROW).addColumn(FAMILY, ROW, time, ROW));
    }
  }

  @After
  public void tearDown() throws IOException {
    assertEquals("no read point is left", 0, region.scannerReadPoints.size());
    HBaseTestingUtility.closeRegionAndWAL(region);
    RegionRows.forgetCache();
    util.cleanupTestDir();
  }

  /** Replaces the coprocessors by none, as a change of the configuration does. */
  private void replace() {
    region.setCoprocessorHost(
      new RegionCoprocessorHost(region, services, util.getConfiguration()));
  }

  private void load(Class<? extends RegionCoprocessor> type) throws IOException {
    region.getCoprocessorHost().load(type, Coprocessor.PRIORITY_USER, util.getConfiguration());
  }

  private int read(Get get) throws IOException {
    List<Cell> cells = new ArrayList<>();
    try (Closeable ignored =
      region.pointGets.read(get, cells, HConstants.NO_NONCE, HConstants.NO_NONCE)) {
      return cells.size();
    }
  }

  private int versions() throws IOException {
    return read(new Get(ROW).addFamily(FAMILY).readAllVersions());
  }

  /** Reads the row as often as a hot row is. Returns the number of hits. */
  private long readHotRow(int cells) throws IOException {
    long hits = TestRowCacheEqualsScanner.count("HitCount");
    for (int i = 0; i < 4; i++) {
      assertEquals(cells, read(new Get(ROW).addFamily(FAMILY)));
    }
    return TestRowCacheEqualsScanner.count("HitCount") - hits;
  }

  @Test
  public void testOneThatIsLoadedIntoAnOpenRegion() throws IOException {
    assertEquals(3, versions());
    load(Scans.class);
    assertEquals("what it keeps", 1, versions());
    replace();
    assertEquals(3, versions());
  }

  @Test
  public void testTwoClassesOfOneSimpleName() throws IOException {
    load(First.Same.class);
    load(Second.Same.class);
    assertEquals("what the second keeps", 1, versions());
  }

  @Test
  public void testObserverThatIsReturnedLater() throws IOException {
    load(Late.class);
    assertEquals(3, versions());
    Late.observes = true;
    assertEquals("what it keeps", 1, versions());
  }

  @Test
  public void testRowsAreForgottenAfterAnotherHostChangedThem() throws IOException {
    assertTrue(readHotRow(1) > 0);
    replace();
    load(Dropping.class);
    region.flush(true);
    replace();
    readHotRow(0);
  }

  @Test
  public void testRowsAreForgottenAfterOneThatWasRemovedChangedThem() throws IOException {
    assertTrue(readHotRow(1) > 0);
    load(Dropping.class);
    region.flush(true);
    Dropping.fails = true;
    region.getCoprocessorHost().postOpen();
    assertTrue("removed", region.getCoprocessorHost().getCoprocessors().isEmpty());
    readHotRow(0);
  }

  /** It returns scanners as they are. */
  @Test
  public void testAccessControllerAloneLeavesNothingToScanners() throws IOException {
    load(AccessController.class);
    long gets = TestPointGets.count("PointGetCount");
    assertEquals(3, versions());
    assertTrue("cached", readHotRow(1) > 0);
    assertEquals(gets + 5, TestPointGets.count("PointGetCount"));
  }
}
