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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** {@link ReadMissAdmission} without a cache. */
@Category({ IOTests.class, SmallTests.class })
public class TestReadMissAdmission {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReadMissAdmission.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final String OTHER = "1123456789abcdef0123456789abcdef";

  private boolean spare;
  private final ReadMissAdmission admission = new ReadMissAdmission(1000, () -> spare);

  private boolean admits(String file, long offset) {
    return admission.admits(new BlockCacheKey(file, offset));
  }

  private void assertCounts(long admitted, long rejected) {
    assertEquals(admitted, admission.getAdmittedCount());
    assertEquals(rejected, admission.getRejectedCount());
  }

  @Test
  public void testAdmitsAllAndCountsNothingUnlessSet() {
    assertFalse(admission.isFilter());
    assertTrue(admits(FILE, 0));
    assertCounts(0, 0);
  }

  @Test
  public void testAdmitsABlockOnItsSecondMiss() {
    admission.setSecondMissOnly(true);
    assertTrue(admission.isFilter());
    assertFalse(admits(FILE, 0));
    assertTrue(admits(FILE, 0));
    assertTrue(admits(FILE, 0));
    assertCounts(2, 1);
  }

  @Test
  public void testTellsOffsetsAndFilesApart() {
    admission.setSecondMissOnly(true);
    assertFalse(admits(FILE, 0));
    assertFalse(admits(FILE, 65536));
    assertFalse(admits(OTHER, 0));
    assertTrue(admits(FILE, 65536));
    assertCounts(1, 3);
  }

  @Test
  public void testRejectsBlocksThatAreMissedOnce() {
    admission.setSecondMissOnly(true);
    int admitted = 0;
    for (int block = 0; block < 100_000; block++) {
      admitted += admits(FILE, block) ? 1 : 0;
    }
    assertTrue("" + admitted, admitted < 100);
    assertCounts(admitted, 100_000 - admitted);
  }

  @Test
  public void testAdmitsAllWhileThereIsSpaceToSpareAndRemembersThem() {
    spare = true;
    admission.setSecondMissOnly(true);
    assertTrue(admits(FILE, 0));
    assertTrue(admits(FILE, 1));
    spare = false;
    assertFalse(admits(FILE, 2));
    assertTrue(admits(FILE, 1));
    assertCounts(3, 1);
  }

  @Test
  public void testForgetsWhatWasMissedWhenItIsSwitchedOff() {
    admission.setSecondMissOnly(true);
    assertFalse(admits(FILE, 0));
    admission.setSecondMissOnly(true);
    assertTrue("set again, nothing changes", admits(FILE, 0));
    admission.setSecondMissOnly(false);
    assertTrue(admits(FILE, 1));
    admission.setSecondMissOnly(true);
    assertFalse(admits(FILE, 0));
    assertCounts(1, 2);
  }

  @Test
  public void testSizesOfOneAndOfMoreThanATableCanHave() {
    ReadMissAdmission one = new ReadMissAdmission(1, () -> false);
    one.setSecondMissOnly(true);
    BlockCacheKey key = new BlockCacheKey(FILE, 7);
    assertFalse(one.admits(key));
    assertTrue(one.admits(key));
    // Nothing is allocated before it is used.
    assertTrue(new ReadMissAdmission(Long.MAX_VALUE, () -> false).admits(key));
  }
}
