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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestFileEvictionGuard {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFileEvictionGuard.class);

  private final FileEvictionGuard guard = new FileEvictionGuard();

  @Test
  public void testMoveWithoutEvictionIsUndisturbed() {
    long stamp = guard.moveStarts("f");
    assertNotEquals(FileEvictionGuard.BUSY, stamp);
    assertTrue(guard.undisturbed("f", stamp));
  }

  @Test
  public void testNoMoveStartsWhileAnEvictionIsInFlight() {
    guard.evictionStarts("f");
    assertEquals(FileEvictionGuard.BUSY, guard.moveStarts("f"));
    guard.evictionEnds("f");
    assertNotEquals(FileEvictionGuard.BUSY, guard.moveStarts("f"));
  }

  @Test
  public void testEvictionThatStartsDuringAMoveDisturbsIt() {
    long stamp = guard.moveStarts("f");
    guard.evictionStarts("f");
    assertFalse(guard.undisturbed("f", stamp));
    guard.evictionEnds("f");
    assertFalse("an eviction that has ended counts as well", guard.undisturbed("f", stamp));
  }

  @Test
  public void testEvictionsOfTheSameFileMayOverlap() {
    guard.evictionStarts("f");
    guard.evictionStarts("f");
    guard.evictionEnds("f");
    assertEquals(FileEvictionGuard.BUSY, guard.moveStarts("f"));
    guard.evictionEnds("f");
    assertNotEquals(FileEvictionGuard.BUSY, guard.moveStarts("f"));
  }

  @Test
  public void testOtherFilesGoOnMoving() {
    long stamp = guard.moveStarts("f");
    guard.evictionStarts("g");
    assertTrue(guard.undisturbed("f", stamp));
    assertNotEquals(FileEvictionGuard.BUSY, guard.moveStarts("f"));
  }
}
