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
package org.apache.hadoop.hbase.security.visibility;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.regionserver.querymatcher.DeleteTracker.DeleteResult;
import org.apache.hadoop.hbase.regionserver.querymatcher.NewVersionBehaviorTracker;
import org.apache.hadoop.hbase.testclassification.SecurityTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Deletes of a family and of its column without a name, with visibility labels. */
@Category({ SecurityTests.class, SmallTests.class })
public class TestVisibilityOfUnnamedColumn {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestVisibilityOfUnnamedColumn.class);

  private final NewVersionBehaviorTracker tracker = new VisibilityNewVersionBehaivorTracker(null,
    CellComparatorImpl.COMPARATOR, 0, 3, 3, Long.MIN_VALUE);

  private static KeyValue unnamed(KeyValue.Type type, long time, long sequenceId) {
    KeyValue cell = new KeyValue(Bytes.toBytes("row"), Bytes.toBytes("f"), new byte[0], time, type);
    cell.setSequenceId(sequenceId);
    return cell;
  }

  @Test
  public void testDeletedVersionBehindADeletedFamily() {
    tracker.add(unnamed(KeyValue.Type.DeleteFamily, 5, 1));
    tracker.add(unnamed(KeyValue.Type.Delete, 3, 4));
    assertEquals(DeleteResult.VERSION_DELETED,
      tracker.isDeleted(unnamed(KeyValue.Type.Put, 3, 2)));
    assertEquals(DeleteResult.NOT_DELETED, tracker.isDeleted(unnamed(KeyValue.Type.Put, 2, 3)));
  }

  @Test
  public void testDeletedFamilyBehindANewerCell() {
    assertEquals(DeleteResult.NOT_DELETED, tracker.isDeleted(unnamed(KeyValue.Type.Put, 9, 3)));
    tracker.add(unnamed(KeyValue.Type.DeleteFamily, 5, 2));
    assertEquals(DeleteResult.COLUMN_DELETED,
      tracker.isDeleted(unnamed(KeyValue.Type.Put, 4, 1)));
  }

  @Test
  public void testDeletedVersionOfTheFamilyBehindANewerCell() {
    assertEquals(DeleteResult.NOT_DELETED, tracker.isDeleted(unnamed(KeyValue.Type.Put, 9, 3)));
    tracker.add(unnamed(KeyValue.Type.DeleteFamilyVersion, 4, 2));
    assertEquals(DeleteResult.VERSION_DELETED,
      tracker.isDeleted(unnamed(KeyValue.Type.Put, 4, 1)));
    assertEquals(DeleteResult.NOT_DELETED, tracker.isDeleted(unnamed(KeyValue.Type.Put, 3, 1)));
  }
}
