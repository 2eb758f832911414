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
package org.apache.hadoop.hbase.regionserver.read.cache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Every schedule, with three preemptions, of a thread that looks up or inserts rows and of one that
 * gives their memory back and borrows other memory: a row that is found is whole, although the tier
 * overwrites memory as soon as it is given back.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestBorrowedMemoryInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBorrowedMemoryInterleavings.class);

  private static final int PREEMPTIONS = 3;
  private static final int OWN = 4 << 10;
  private static final int PAGE = 1 << 10;
  private static final int MAX_ENTRY = 400;
  private static final int CELLS = 150;
  /** The number of rows. All but a few fit into the stripe's memory, or into borrowed memory. */
  private static final int ROWS = 30;
  private static final int IN_OWN = 0;
  private static final int IN_BORROWED = 20;

  private final Interleavings interleavings = new Interleavings(PREEMPTIONS);
  private final RowCacheMetrics metrics = new RowCacheMetrics(OWN);

  private final class YieldingLock extends ReentrantLock {
    private static final long serialVersionUID = 1L;
    private final Interleavings.Permits permits = interleavings.new Permits(1);

    @Override
    public void lock() {
      try {
        permits.acquire();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public boolean tryLock() {
      return permits.tryAcquire();
    }

    @Override
    public void unlock() {
      permits.release();
    }
  }

  /** A stripe with rows in memory of its own and in borrowed memory. */
  private final class Model {
    private final CachedRegion region = new CachedRegion(1, new RowVersions(0) {
      @Override
      void step() {
        interleavings.point();
      }
    });
    private final RowStripe stripe = new RowStripe(ByteBuffer.allocateDirect(OWN), MAX_ENTRY,
      new FrequencySketch(100), number -> region, metrics, new YieldingLock());
    private final OverwritingTier tier = new OverwritingTier(PAGE, 1);
    private final BorrowedMemory memory =
      new BorrowedMemory(tier, new RowStripe[] { stripe }, metrics);
    private boolean hit;
    private boolean missed;

    Model() {
      memory.borrow(1);
      for (int row = 0; row < ROWS; row++) {
        put(row);
      }
      assertNotNull(get(IN_OWN, true));
      assertNotNull(get(IN_BORROWED, true));
    }

    private RowKey key(int row) {
      RowKey key = new RowKey();
      assertTrue(key.set(new Get(Bytes.toBytes(row)), region.number()));
      return key;
    }

    /** Returns whether the row was registered, as no other was meanwhile. */
    boolean put(int row) {
      byte[] cells = new byte[CELLS];
      Arrays.fill(cells, (byte) row);
      boolean registered = region.versions().register(key(row).rowHash(), () -> 0) == 0;
      stripe.put(key(row), region, 1, RowStripe.since(0), 0, cells, CELLS, true);
      return registered;
    }

    private byte[] get(int row, boolean waits) {
      byte[] cells = stripe.get(key(row), region, 1, waits);
      if (cells != null) {
        for (int i = 0; i < CELLS; i++) {
          assertEquals(row, cells[i]);
        }
      }
      return cells;
    }

    void lookUp(boolean waits) {
      boolean found = get(IN_BORROWED, waits) != null;
      hit |= found;
      missed |= !found;
    }

    void move() {
      memory.giveBack(1);
      memory.borrow(1);
    }
  }

  private interface Scenario {
    void run(Model model);
  }

  private void explore(Scenario scenario) throws Exception {
    long schedules = 0;
    boolean anyHit = false;
    boolean anyMiss = false;
    try (Interleavings closed = interleavings) {
      do {
        Model model = new Model();
        closed.run(true, () -> scenario.run(model), model::move);
        closed.check();
        assertTrue(closed.isDone());
        assertNull("its memory was given back", model.get(IN_BORROWED, true));
        assertNotNull(model.get(IN_OWN, true));
        model.put(IN_BORROWED);
        assertNotNull(model.get(IN_BORROWED, true));
        anyHit |= model.hit;
        anyMiss |= model.missed;
        schedules++;
      } while (closed.next());
    }
    System.out.println(schedules + " schedules");
    assertTrue("some lookups hit, and some do not", anyHit && anyMiss);
  }

  @Test
  public void testLookups() throws Exception {
    explore(model -> {
      model.lookUp(true);
      model.lookUp(true);
    });
  }

  @Test
  public void testLookupsThatDoNotWait() throws Exception {
    explore(model -> {
      model.lookUp(false);
      model.lookUp(false);
    });
  }

  @Test
  public void testInsertions() throws Exception {
    explore(model -> {
      model.lookUp(true);
      for (int row = 40; row < 44; row++) {
        boolean registered = model.put(row);
        assertEquals(registered, model.get(row, true) != null);
      }
      model.lookUp(true);
    });
  }
}
