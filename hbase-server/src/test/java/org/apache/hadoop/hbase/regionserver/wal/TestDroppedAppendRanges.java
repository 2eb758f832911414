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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestDroppedAppendRanges {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDroppedAppendRanges.class);

  private final DroppedAppends dropped = new DroppedAppends();

  @Test
  public void testWhatIsBetweenTwoDropsWithoutARollIsDropped() throws IOException {
    dropped.check(5);
    dropped.add(5);
    dropped.add(7);
    dropped.endRange();
    dropped.add(20);
    for (long txid : new long[] { 5, 6, 7, 20 }) {
      assertThrows("" + txid, IOException.class, () -> dropped.check(txid));
    }
    for (long txid : new long[] { 4, 8, 19, 21 }) {
      dropped.check(txid);
    }
  }

  @Test
  public void testWhatWasDroppedInManyRollsTakesBoundedMemory() {
    int rolls = 3 * DroppedAppends.MAX_RANGES;
    for (int roll = 1; roll <= rolls; roll++) {
      dropped.add(10 * roll);
      dropped.add(10 * roll + 2);
      dropped.endRange();
    }
    for (int roll = 1; roll <= rolls; roll++) {
      for (int i = 0; i <= 2; i++) {
        assertTrue(dropped.contains(10 * roll + i));
      }
      assertEquals("behind " + roll, roll <= rolls - DroppedAppends.MAX_RANGES,
        dropped.contains(10 * roll + 3));
    }
    assertFalse(dropped.contains(9));
    assertFalse(new DroppedAppends().contains(0));
  }
}
