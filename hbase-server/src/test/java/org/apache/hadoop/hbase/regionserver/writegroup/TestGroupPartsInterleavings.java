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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite.State;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.NonceKey;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/**
 * The invariant of {@link GroupParts}: groups of several regions, and flushes of these, never wait
 * for each other in a circle, in all interleavings with a bounded number of preemptions.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestGroupPartsInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestGroupPartsInterleavings.class);

  private static final int PREEMPTIONS = 2;

  private final Interleavings interleavings = new Interleavings(PREEMPTIONS);
  private final List<Interleavings.Permits> waiting = new ArrayList<>();

  private void await(BooleanSupplier condition) {
    try {
      while (!condition.getAsBoolean()) {
        Interleavings.Permits change = interleavings.new Permits(0);
        waiting.add(change);
        change.acquire();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void changed() {
    List<Interleavings.Permits> all = new ArrayList<>(waiting);
    waiting.clear();
    all.forEach(Interleavings.Permits::release);
  }

  /** The locks and sequence ids of a region, whose threads run one at a time. */
  private final class Region implements ReadWriteLock, Lock {
    private final HRegion region = Mockito.mock(HRegion.class, Mockito.withSettings().stubOnly());
    private final TreeSet<Long> incomplete = new TreeSet<>();
    private final boolean bulkLoaded;
    private long last;
    private int readers;
    private boolean flush;
    private int applied;
    private int refused;

    Region(String table, boolean bulkLoaded) {
      RegionInfo info = RegionInfoBuilder.newBuilder(TableName.valueOf(table)).build();
      Mockito.when(region.getRegionInfo()).thenReturn(info);
      this.bulkLoaded = bulkLoaded;
    }

    void apply() throws IOException {
      if (bulkLoaded) {
        throw new IOException("locked");
      }
      interleavings.point();
      if (!GroupAppend.tryLock(this, this)) {
        lock();
      }
      try {
        interleavings.point();
        long sequenceId = ++last;
        incomplete.add(sequenceId);
        GroupAppend.of(new NonceKey(0, 0));
        GroupAppend.appended();
        interleavings.point();
        incomplete.remove(sequenceId);
        changed();
        await(() -> incomplete.isEmpty() || incomplete.first() > sequenceId);
        applied++;
      } finally {
        unlock();
      }
    }

    void flush() {
      interleavings.point();
      flush = true;
      await(() -> readers == 0);
      interleavings.point();
      flush = false;
      changed();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
      if (flush) {
        refused++;
        return false;
      }
      readers++;
      return true;
    }

    @Override
    public void lock() {
      await(() -> !flush);
      readers++;
    }

    @Override
    public void unlock() {
      readers--;
      changed();
    }

    @Override
    public Lock readLock() {
      return this;
    }

    @Override
    public Lock writeLock() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void lockInterruptibly() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException();
    }
  }

  private final class Key extends GroupKey {
    private final Region[] regions;

    Key(Region... regions) {
      super(null, null);
      this.regions = regions;
    }

    @Override
    protected GroupKey of(byte[] one) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected WriteGroup group(List<PendingWrite> members) {
      return new Group(members, regions);
    }

    @Override
    public int hashCode() {
      return 0;
    }

    @Override
    public boolean equals(Object other) {
      return other == this;
    }

    @Override
    public String toString() {
      return "key";
    }
  }

  private static final class Group extends WriteGroup {
    private final Region[] regions;

    Group(List<PendingWrite> members, Region[] regions) {
      super(members);
      this.regions = regions;
    }

    @Override
    public int rows() {
      return size();
    }

    @Override
    protected boolean triesLocks() {
      return true;
    }

    @Override
    protected void apply(HRegion region) throws IOException {
      for (Region each : regions) {
        if (each.region == region) {
          each.apply();
        }
      }
    }

    @Override
    protected void done() {
      members().forEach(member -> member.done(null, 0));
    }
  }

  /** A group with a write of each region, in this order. */
  private final class Leader {
    private final List<PendingWrite> members = new ArrayList<>();
    private final Key key;
    private int passed;

    Leader(Region... regions) {
      key = new Key(regions);
      for (Region each : regions) {
        members.add(new PendingWrite(each.region, new Put(Bytes.toBytes("row")),
          HConstants.NO_NONCE, HConstants.NO_NONCE, null));
      }
    }

    void lead() {
      new GroupParts(key, members, () -> passed++).apply();
    }
  }

  /**
   * @param first   the regions of the first group, in the order of its writes
   * @param second  those of the second group
   * @param flushed the region that is flushed
   * @param locked  the region that is locked against all groups, or none
   */
  private void explore(String first, String second, char flushed, char locked) throws Exception {
    long schedules = 0;
    long retried = 0;
    try (Interleavings closed = interleavings) {
      do {
        waiting.clear();
        Map<Character, Region> regions = new TreeMap<>();
        for (char name : "abc".toCharArray()) {
          regions.put(name, new Region(Character.toString(name), name == locked));
        }
        List<Leader> leaders = new ArrayList<>();
        for (String names : Arrays.asList(first, second)) {
          leaders.add(new Leader(
            names.chars().mapToObj(name -> regions.get((char) name)).toArray(Region[]::new)));
        }
        closed.run(true, leaders.get(0)::lead, leaders.get(1)::lead,
          regions.get(flushed)::flush);
        closed.check();
        assertTrue("they wait for each other", closed.isDone());
        int applied = 0;
        for (Leader leader : leaders) {
          assertEquals("the leadership is passed on once", 1, leader.passed);
          for (PendingWrite member : leader.members) {
            boolean fails = regions.containsKey(locked)
              && member.region() == regions.get(locked).region;
            assertEquals(fails ? State.ALONE : State.DONE, member.state());
            applied += fails ? 0 : 1;
          }
        }
        assertEquals("a part is applied once", applied,
          regions.values().stream().mapToInt(region -> region.applied).sum());
        retried += regions.values().stream().mapToInt(region -> region.refused).sum();
        schedules++;
      } while (closed.next());
    }
    System.out.println(schedules + " schedules, " + retried + " parts applied after the others");
    assertTrue("no part meets a flush", retried > 0);
  }

  @Test
  public void testGroupsInOppositeOrder() throws Exception {
    explore("ab", "ba", 'b', '-');
  }

  @Test
  public void testThreeRegions() throws Exception {
    explore("cab", "bc", 'b', '-');
  }

  @Test
  public void testFirstRegionIsLocked() throws Exception {
    explore("bac", "cb", 'c', 'a');
  }

  @Test
  public void testLastRegionIsLocked() throws Exception {
    explore("cba", "ba", 'b', 'c');
  }
}
