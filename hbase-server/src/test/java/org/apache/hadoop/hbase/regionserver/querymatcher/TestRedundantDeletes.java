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
package org.apache.hadoop.hbase.regionserver.querymatcher;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.Collections;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValue.Type;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ScanInfo;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.querymatcher.ScanQueryMatcher.MatchCode;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A flush or minor compaction leaves out delete markers that delete nothing which another marker
 * does not delete, but not where the other one may not count.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRedundantDeletes {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRedundantDeletes.class);

  private static final byte[] ROW = Bytes.toBytes("row");
  private static final byte[] FAMILY = Bytes.toBytes("f");

  @Test
  public void testFlushLeavesOutRedundantMarkers() throws IOException {
    ScanQueryMatcher matcher = flush(KeepDeletedCells.FALSE);
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("", 100, Type.DeleteFamily)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("", 99, Type.DeleteFamily)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("", 98, Type.DeleteFamilyVersion)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 201, Type.DeleteColumn)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("c", 200, Type.DeleteColumn)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("c", 150, Type.Delete)));
    assertEquals("in the deleted family", MatchCode.SKIP,
      matcher.match(cell("d", 100, Type.DeleteColumn)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("e", 101, Type.Delete)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("e", 100, Type.Delete)));
  }

  @Test
  public void testFlushKeepsMarkersOfOtherCells() throws IOException {
    ScanQueryMatcher matcher = flush(KeepDeletedCells.FALSE);
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("", 100, Type.DeleteFamilyVersion)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("", 99, Type.DeleteFamilyVersion)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 100, Type.Delete)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 99, Type.DeleteColumn)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("d", 98, Type.DeleteColumn)));
    matcher.setToNewRow(cell("", 1, Type.Put));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("d", 97, Type.DeleteColumn)));
  }

  @Test
  public void testFlushKeepsMarkersOfKeptCells() throws IOException {
    ScanQueryMatcher matcher = flush(KeepDeletedCells.TRUE);
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 100, Type.DeleteColumn)));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 99, Type.DeleteColumn)));
  }

  @Test
  public void testFlushKeepsMarkersBehindOneThatNotAllScansSee() throws IOException {
    ScanQueryMatcher matcher = flush(KeepDeletedCells.FALSE);
    KeyValue unseen = cell("c", 100, Type.DeleteColumn);
    unseen.setSequenceId(11);
    assertEquals(MatchCode.INCLUDE, matcher.match(unseen));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 99, Type.DeleteColumn)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("c", 98, Type.DeleteColumn)));
  }

  @Test
  public void testFlushKeepsMarkersBehindOneThatExpires() throws IOException {
    ScanQueryMatcher matcher = flush(KeepDeletedCells.FALSE);
    Tag ttl = new ArrayBackedTag(TagType.TTL_TAG_TYPE, Bytes.toBytes(Long.MAX_VALUE / 2));
    KeyValue expires = new KeyValue(ROW, FAMILY, Bytes.toBytes("c"), 100, Type.DeleteColumn,
      null, Collections.singletonList(ttl));
    assertEquals(MatchCode.INCLUDE, matcher.match(expires));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 99, Type.DeleteColumn)));
    matcher.setToNewRow(cell("", 1, Type.Put));
    assertEquals(MatchCode.INCLUDE, matcher.match(cell("c", 99, Type.DeleteColumn)));
    assertEquals(MatchCode.SKIP, matcher.match(cell("c", 98, Type.DeleteColumn)));
  }

  private static ScanQueryMatcher flush(KeepDeletedCells keep) throws IOException {
    ScanQueryMatcher matcher = CompactionScanQueryMatcher.create(info(keep),
      ScanType.COMPACT_RETAIN_DELETES, 10, 0, 0, 100_000, null, null, null);
    matcher.setToNewRow(cell("", 1, Type.Put));
    return matcher;
  }

  private static ScanInfo info(KeepDeletedCells keep) {
    return new ScanInfo(HBaseConfiguration.create(),
      ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setKeepDeletedCells(keep)
        .setMaxVersions(3).build(),
      Long.MAX_VALUE, 0, CellComparatorImpl.COMPARATOR);
  }

  private static KeyValue cell(String column, long timestamp, Type type) {
    return new KeyValue(ROW, FAMILY, Bytes.toBytes(column), timestamp, type);
  }
}
