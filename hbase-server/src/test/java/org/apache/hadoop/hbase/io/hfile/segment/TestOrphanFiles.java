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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.mob.MobUtils;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.OnlineRegionFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Proves which files no region reads, and when they are dropped. */
@Category({ IOTests.class, SmallTests.class })
public class TestOrphanFiles {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestOrphanFiles.class);

  private static final TableName TABLE = TableName.valueOf("t");
  private static final RegionInfo REGION = RegionInfoBuilder.newBuilder(TABLE).build();
  private static final String NAME = REGION.getEncodedName();
  private static final String ELSEWHERE = "0123456789abcdef0123456789abcdef";
  private static final String A = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  private static final String B = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
  private static final String C = "cccccccccccccccccccccccccccccccc";
  private static final String D = "dddddddddddddddddddddddddddddddd";
  private static final long GRACE = TimeUnit.HOURS.toNanos(1);

  private final CachedFiles files = new CachedFiles();
  private final OrphanFiles orphans = new OrphanFiles(GRACE);

  /** Returns a region with one store that has these files open. */
  static HRegion region(RegionInfo info, boolean mob, String... storeFiles) {
    HRegion region = mock(HRegion.class);
    when(region.getRegionInfo()).thenReturn(info);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(
      ColumnFamilyDescriptorBuilder.newBuilder(new byte[] { 'f' }).setMobEnabled(mob).build())
      .build();
    when(region.getTableDescriptor()).thenReturn(table);
    HStore store = mock(HStore.class);
    List<HStoreFile> open = new ArrayList<>();
    for (String name : storeFiles) {
      HStoreFile file = mock(HStoreFile.class);
      when(file.getPath()).thenReturn(new Path("/hbase/data/default/t/" + NAME + "/f", name));
      open.add(file);
    }
    when(store.getStorefiles()).thenReturn(open);
    when(store.getCompactedFiles()).thenReturn(null);
    when(region.getStores()).thenReturn(Collections.singletonList(store));
    return region;
  }

  private static OnlineFiles.Snapshot online(HRegion... regions) {
    return OnlineRegionFiles.of(Arrays.asList(regions));
  }

  private void cached(String name, String region) {
    recovered(name, region);
    files.get(name).insertedInto();
  }

  private void recovered(String name, String region) {
    CachedFile file = files.acquire(name);
    file.onInsert(0, Location.of(0, 0, Location.UNIT, 0, 0));
    file.setRegion(region);
    file.release();
  }

  private List<String> look(OnlineFiles.Snapshot online, boolean needsSpace, long now) {
    return orphans.look(files.live(), online, needsSpace, now).stream().map(CachedFile::name)
      .sorted().collect(Collectors.toList());
  }

  @Test
  public void testFileMissingInItsRegionIsDroppedSoon() {
    cached(A, NAME);
    cached(B, NAME);
    OnlineFiles.Snapshot online = online(region(REGION, false, A));
    assertEquals(Collections.emptyList(), look(online, true, 7));
    assertEquals(1, orphans.count());
    assertEquals(Collections.emptyList(), look(online, true, 6 + OrphanFiles.COMMIT_NANOS));
    assertEquals(Collections.singletonList(B), look(online, false, 7 + OrphanFiles.COMMIT_NANOS));
  }

  @Test
  public void testFileOfAFormerProcessIsDroppedAtOnce() {
    recovered(A, NAME);
    recovered(B, NAME);
    recovered(C, ELSEWHERE);
    assertEquals(Collections.singletonList(B), look(online(region(REGION, false, A)), true, 0));
  }

  @Test
  public void testFileThatIsCommittedMeanwhileStays() {
    cached(A, NAME);
    look(online(region(REGION, false)), true, 0);
    look(online(region(REGION, false, A)), true, OrphanFiles.COMMIT_NANOS - 1);
    assertEquals(0, orphans.count());
    // And the time starts anew.
    assertEquals(Collections.emptyList(),
      look(online(region(REGION, false)), true, OrphanFiles.COMMIT_NANOS));
  }

  @Test
  public void testFileOfAnOfflineRegionIsDroppedWhenTheTierIsFull() {
    cached(A, ELSEWHERE);
    cached(B, null);
    OnlineFiles.Snapshot online = online(region(REGION, false));
    assertEquals(Collections.emptyList(), look(online, true, 0));
    assertEquals(Collections.emptyList(), look(online, true, GRACE - 1));
    assertEquals(Collections.emptyList(), look(online, false, 2 * GRACE));
    assertEquals(Arrays.asList(A, B), look(online, true, 2 * GRACE));
  }

  @Test
  public void testReferencesLinksAndBothStandForTheirFiles() {
    cached(A, ELSEWHERE);
    cached(B, ELSEWHERE);
    cached(C, ELSEWHERE);
    cached(D, ELSEWHERE);
    cached(A + "." + ELSEWHERE, NAME);
    OnlineFiles.Snapshot online = online(region(REGION, false, A + "." + ELSEWHERE,
      "other=" + ELSEWHERE + "-" + B, "ns=other=" + ELSEWHERE + "-" + C + "." + ELSEWHERE));
    look(online, true, 0);
    assertEquals(Collections.singletonList(D), look(online, true, GRACE));
  }

  @Test
  public void testReplicaReadsThePrimarysFiles() {
    cached(A, NAME);
    cached(B, NAME);
    RegionInfo replica = RegionInfoBuilder.newBuilder(REGION).setReplicaId(1).build();
    OnlineFiles.Snapshot online = online(region(replica, false, A));
    assertTrue(online.isOnline(NAME));
    look(online, false, 0);
    assertEquals(Collections.singletonList(B), look(online, false, OrphanFiles.COMMIT_NANOS));
  }

  @Test
  public void testMobFilesAreReadThroughRegionsOfTheTable() {
    String mobRegion = MobUtils.getMobRegionInfo(TABLE).getEncodedName();
    cached(A, mobRegion);
    OnlineFiles.Snapshot with = online(region(REGION, true));
    look(with, true, 0);
    assertEquals(Collections.emptyList(), look(with, true, 2 * GRACE));
    OnlineFiles.Snapshot without = online(region(REGION, false));
    assertFalse(without.isRead(A, mobRegion));
  }

  @Test
  public void testCompactedFilesAreReadUntilTheyAreArchived() {
    HRegion region = region(REGION, false, A);
    HStoreFile compacted = mock(HStoreFile.class);
    when(compacted.getPath()).thenReturn(new Path("/f/" + B));
    HStore store = region.getStores().get(0);
    when(store.getCompactedFiles()).thenReturn(Collections.singletonList(compacted));
    assertTrue(online(region).isRead(B, NAME));
  }

  @Test
  public void testNoRegionOnlineIsNotTakenForAll() {
    cached(A, NAME);
    assertEquals(Collections.emptyList(), look(online(), true, 0));
    assertEquals(Collections.emptyList(), look(online(), true, OrphanFiles.COMMIT_NANOS));
    assertEquals(Collections.singletonList(A), look(online(), true, GRACE));
  }
}
