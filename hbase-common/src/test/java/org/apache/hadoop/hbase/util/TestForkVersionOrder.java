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
package org.apache.hadoop.hbase.util;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MiscTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a version of the fork is newer than the release it is made from, and older than the
 * next one. A master puts the regions of system tables on the servers of the newest version.
 */
@Category({ MiscTests.class, SmallTests.class })
public class TestForkVersionOrder {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestForkVersionOrder.class);

  /** Oldest first; a suffix such as hadoop3 is older than none for the base as well. */
  private static final List<String> OLDEST_FIRST = Arrays.asList("1.7.2", "2.5.13-hadoop3",
    "2.6.3-hadoop3", "2.6.3", "2.6.4-hadoop3", "2.6.4-hadoop3-stratum-1",
    "2.6.4-hadoop3-stratum-2", "2.6.4-hadoop3-stratum-10", "2.6.4", "2.6.4-stratum-1",
    "2.6.5-hadoop3", "2.6.5-hadoop3-stratum-1", "2.6.5", "2.7.0-hadoop3", "3.0.0");

  @Test
  public void testForkIsBetweenItsBaseAndTheNextRelease() {
    for (int i = 0; i < OLDEST_FIRST.size(); i++) {
      for (int j = 0; j < OLDEST_FIRST.size(); j++) {
        String left = OLDEST_FIRST.get(i);
        String right = OLDEST_FIRST.get(j);
        assertEquals(left + " and " + right, Integer.signum(Integer.compare(i, j)),
          Integer.signum(VersionInfo.compareVersion(left, right)));
      }
    }
  }

  @Test
  public void testOtherQualifiersAreOrderedAsBefore() {
    List<String> oldestFirst = Arrays.asList("2.6.4-other", "2.6.4-alpha", "2.6.4-beta",
      "2.6.4-SNAPSHOT", "2.6.4");
    for (int i = 1; i < oldestFirst.size(); i++) {
      assertTrue(
        VersionInfo.compareVersion(oldestFirst.get(i - 1), oldestFirst.get(i)) < 0);
    }
  }

  @Test
  public void testSnapshotOfTheForkIsOlderThanItsRelease() {
    assertTrue(VersionInfo.compareVersion("2.6.4-hadoop3-stratum-2-SNAPSHOT",
      "2.6.4-hadoop3-stratum-2") < 0);
    assertTrue(VersionInfo.compareVersion("2.6.4-hadoop3-stratum-2-SNAPSHOT",
      "2.6.4-hadoop3-stratum-1") > 0);
  }

  /** HBaseFsck refuses to repair what is newer than this. */
  @Test
  public void testForkIsTakenForHBase2() {
    assertTrue(VersionInfo.compareVersion("2.any.any", "2.6.4-hadoop3-stratum-1") < 0);
    assertEquals(2, VersionInfo.getMajorVersion("2.6.4-hadoop3-stratum-1"));
  }
}
