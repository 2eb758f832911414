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
package org.apache.hadoop.hbase.regionserver.writegroup;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Which writes of a queue a group takes, and in which order the others remain. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestWriteQueue {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteQueue.class);

  private static final int MAX = 1000;

  private final WriteQueue queue = new WriteQueue();
  private final List<PendingWrite> asked = new ArrayList<>();

  private List<PendingWrite> join(int writes) {
    List<PendingWrite> joined = new ArrayList<>();
    for (int i = 0; i < writes; i++) {
      PendingWrite write = new PendingWrite(null, new Put(Bytes.toBytes(i)), HConstants.NO_NONCE,
        HConstants.NO_NONCE, Thread.currentThread());
      assertTrue(queue.join(write));
      joined.add(write);
    }
    return joined;
  }

  /** Members of which there are so many at most, the next of which makes the group full. */
  private WriteKind.Members first(int most) {
    return new WriteKind.Members() {
      @Override
      public boolean add(PendingWrite write) {
        asked.add(write);
        return asked.size() <= most;
      }

      @Override
      public boolean isFull() {
        return asked.size() > most;
      }
    };
  }

  @Test
  public void testFullGroupAsksForNoMore() {
    List<PendingWrite> joined = join(10);
    assertEquals(joined.subList(0, 3), queue.take(MAX, MAX, first(3)));
    assertEquals("one more than fits", joined.subList(0, 4), asked);
    assertEquals("in their order", joined.subList(3, 10), queue.take(MAX, MAX, any -> true));
    assertEquals(0, queue.waiting());
  }

  @Test
  public void testWritesThatFitIntoNoGroupAreNotAllLookedAt() {
    int skipped = WriteQueue.MAX_SKIPPED;
    List<PendingWrite> joined = join(3 * skipped + 1);
    assertEquals(Collections.emptyList(), queue.take(MAX, MAX, write -> {
      asked.add(write);
      return false;
    }));
    assertEquals(skipped, asked.size());
    assertEquals(joined, queue.take(MAX, MAX, any -> true));
  }

  /** Each other write has the row of the one before. */
  @Test
  public void testSkippedWritesRemainInTheirOrder() {
    List<PendingWrite> joined = join(7);
    List<PendingWrite> odd = new ArrayList<>();
    List<PendingWrite> even = new ArrayList<>();
    for (int i = 0; i < joined.size(); i++) {
      (i % 2 == 0 ? even : odd).add(joined.get(i));
    }
    assertEquals(even, queue.take(MAX, MAX, even::contains));
    assertEquals(odd.get(0), queue.pass());
    assertEquals(odd.subList(1, 3), queue.take(2, MAX, any -> true));
  }
}
