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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.MultiVersionConcurrencyControl;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.RegionGroupingProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/**
 * A server that was fenced, that is, whose directory of WALs the master has renamed in order to
 * split them, makes no further WAL and no directory: nothing would split what is written there.
 */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, SmallTests.class })
public class TestFencedWALDirectory {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFencedWALDirectory.class);

  private static final String SERVER = "server.example,16020,1";
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final RegionInfo FIRST =
    RegionInfoBuilder.newBuilder(TableName.valueOf("first", "table")).build();
  private static final RegionInfo SECOND =
    RegionInfoBuilder.newBuilder(TableName.valueOf("second", "table")).build();

  @Parameters(name = "{0}")
  public static Iterable<String> providers() {
    return Arrays.asList("filesystem", "asyncfs");
  }

  @Parameter
  public String provider;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final RegionServerServices server = mock(RegionServerServices.class);
  private FileSystem fs;
  private Path directory;
  private WALFactory factory;

  @Before
  public void setUp() throws IOException {
    Configuration conf = util.getConfiguration();
    Path root = util.getDataTestDir();
    fs = root.getFileSystem(conf);
    CommonFSUtils.setRootDir(conf, fs.makeQualified(root));
    CommonFSUtils.setWALRootDir(conf, fs.makeQualified(root));
    conf.setBoolean(CommonFSUtils.UNSAFE_STREAM_CAPABILITY_ENFORCE, false);
    conf.set(WALFactory.WAL_PROVIDER, "multiwal");
    conf.set(RegionGroupingProvider.DELEGATE_PROVIDER, provider);
    conf.set(RegionGroupingProvider.REGION_GROUPING_STRATEGY, "namespace");
    directory = new Path(root, AbstractFSWALProvider.getWALDirectoryName(SERVER));
  }

  @After
  public void tearDown() throws IOException {
    factory.shutdown();
    util.cleanupTestDir();
  }

  /** Creates the WAL directory like a RegionServer that starts. */
  private void start() throws IOException {
    factory = new WALFactory(util.getConfiguration(), SERVER, server);
    assertTrue(fs.mkdirs(directory));
  }

  /** Renames the directory, which the master does before it splits the WALs. */
  private void fence() throws IOException {
    assertTrue(fs.rename(directory, directory.suffix(AbstractFSWALProvider.SPLITTING_EXT)));
  }

  private void write(RegionInfo region) throws IOException {
    MultiVersionConcurrencyControl mvcc = new MultiVersionConcurrencyControl();
    WALKeyImpl key = new WALKeyImpl(region.getEncodedNameAsBytes(), region.getTable(), 1, mvcc);
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(Bytes.toBytes("row"), FAMILY, FAMILY, FAMILY));
    WAL wal = factory.getWAL(region);
    long txid = wal.appendData(region, key, edit);
    mvcc.complete(key.getWriteEntry());
    wal.sync(txid);
  }

  private void assertNoDirectory() throws IOException {
    assertFalse("a directory that nothing splits", fs.exists(directory));
    verify(server).abort(any(), any());
  }

  @Test
  public void testAServerHasAWalForEachGroup() throws IOException {
    start();
    write(FIRST);
    write(SECOND);
    assertNotSame(factory.getWAL(FIRST), factory.getWAL(SECOND));
    assertEquals(2, fs.listStatus(directory).length);
    verify(server, never()).abort(any(), any());
  }

  @Test
  public void testNoWalOfAFurtherGroup() throws IOException {
    start();
    write(FIRST);
    fence();
    assertThrows(IOException.class, () -> write(SECOND));
    assertNoDirectory();
  }

  @Test
  public void testNoFirstWal() throws IOException {
    start();
    fence();
    assertThrows(IOException.class, () -> write(FIRST));
    assertNoDirectory();
  }

  @Test
  public void testNoWalOfMeta() throws IOException {
    start();
    write(FIRST);
    fence();
    assertThrows(IOException.class, () -> write(RegionInfoBuilder.FIRST_META_REGIONINFO));
    assertNoDirectory();
  }

  @Test
  public void testARollMakesNoDirectory() throws IOException {
    start();
    write(FIRST);
    fence();
    assertThrows(IOException.class, () -> factory.getWAL(FIRST).rollWriter(true));
    assertFalse(fs.exists(directory));
  }

  /** This is the case of the master's own region, and of tools. */
  @Test
  public void testWithoutARegionServerTheWalMakesItsDirectory() throws IOException {
    Abortable other = mock(Abortable.class);
    factory = new WALFactory(util.getConfiguration(), SERVER, other);
    write(FIRST);
    assertEquals(1, fs.listStatus(directory).length);
    verify(other, never()).abort(any(), any());
  }
}
