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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Room for threads on eight processors, by clocks of the test's own. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestCpuHeadroom {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCpuHeadroom.class);

  private static final int PROCESSORS = 8;
  private static final long MILLI = 1_000_000;
  private static final long PERIOD = CpuHeadroom.PERIOD_MILLIS * MILLI;

  /** One that starts anywhere, as System.nanoTime does: here it overflows soon. */
  private static final class TestClocks implements CpuHeadroom.Clocks {
    private long now = Long.MAX_VALUE - 3 * PERIOD;
    private double systemLoad = -1;
    private long processCpu = 17 * MILLI;
    private long threadsCpu;
    private long threadsBusy;
    private int looks;

    @Override
    public long now() {
      return now;
    }

    @Override
    public double systemLoad() {
      return systemLoad;
    }

    @Override
    public long processCpu() {
      looks++;
      return processCpu;
    }

    @Override
    public long threadsCpu() {
      return threadsCpu;
    }

    @Override
    public long threadsBusy() {
      return threadsBusy;
    }

    /** @param others processors that others use; the threads' cpu of busy is theirs */
    void pass(double others, double cpu, double busy) {
      now += PERIOD;
      processCpu += (long) ((others + cpu) * PERIOD);
      threadsCpu += (long) (cpu * PERIOD);
      threadsBusy += (long) (busy * PERIOD);
    }
  }

  private final TestClocks clocks = new TestClocks();
  private final CpuHeadroom room = new CpuHeadroom(PROCESSORS, clocks, Runnable::run);

  /** Passes so many periods, as {@link TestClocks#pass}. */
  private void pass(int periods, double others, double cpu, double busy) {
    for (int i = 0; i < periods; i++) {
      clocks.pass(others, cpu, busy);
      room.threads();
    }
  }

  @Test
  public void testAtFirstEachProcessorIsForAThread() {
    assertEquals(PROCESSORS, room.threads());
  }

  @Test
  public void testOthersComeFirst() {
    assertEquals(4, roomBeside(3));
    assertEquals(0, roomBeside(7.5));
    assertEquals(7, roomBeside(0.5));
  }

  @Test
  public void testSoDoOtherProcesses() {
    clocks.systemLoad = 7.5 / PROCESSORS;
    assertEquals(0, roomBeside(3));
    clocks.systemLoad = 5.0 / PROCESSORS;
    assertEquals(2, roomBeside(3));
    // The load was sampled at another time than this process, and so is less than it uses.
    clocks.systemLoad = 2.0 / PROCESSORS;
    assertEquals(4, roomBeside(3));
    clocks.systemLoad = Double.NaN;
    assertEquals(4, roomBeside(3));
  }

  @Test
  public void testWhatTheThreadsUseThemselvesTakesNoRoomFromThem() {
    for (int i = 0; i < 40; i++) {
      // The load of the system has theirs, too.
      clocks.systemLoad = i < 20 ? -1 : 7.0 / PROCESSORS;
      clocks.pass(2, 5, 5);
      assertTrue(room.threads() >= 5);
    }
    assertEquals(5, room.threads());
  }

  @Test
  public void testOneIsNoBurdenAsLongAsProcessorsAreFree() {
    assertEquals(0, roomBeside(6.9));
    assertEquals(1, roomBeside(6.75));
    pass(20, 6.72, 0.02, 0.02);
    assertEquals("with what it uses itself", 1, room.threads());
    pass(20, 6.75, 0.2, 0.2);
    assertEquals("with too much of it", 0, room.threads());
  }

  /** Returns the room when others have used so many processors for a while. */
  private int roomBeside(double others) {
    pass(20, others, 0, 0);
    return room.threads();
  }

  @Test
  public void testWhatIsOverInAMomentTakesNoRoom() {
    assertEquals(4, roomBeside(3));
    clocks.pass(5, 0, 0);
    assertEquals(3, room.threads());
    clocks.pass(3, 0, 0);
    clocks.pass(3, 0, 0);
    room.threads();
    assertEquals(4, roomBeside(3));
  }

  @Test
  public void testThreadsThatWaitForADeviceNeedLittleRoom() {
    pass(20, 1.2, 0.1, 1);
    assertEquals(60, room.threads());
    pass(20, 7.2, 0.6, 6);
    assertEquals(0, room.threads());
  }

  @Test
  public void testAFewThatWaitForADeviceAreNoBurden() {
    assertEquals(PROCESSORS, room.threadsThatWait());
    for (int i = 0; i < 20; i++) {
      clocks.pass(8, 0, 0);
      room.threadsThatWait();
    }
    assertEquals(0, room.threads());
    assertEquals(PROCESSORS, room.threadsThatWait());
    // These threads show how much headroom is left for more of them.
    for (int i = 0; i < 20; i++) {
      clocks.pass(6.2, 0.8, 8);
      room.threadsThatWait();
    }
    assertEquals(10, room.threadsThatWait());
    assertEquals(10, room.threads());
  }

  @Test
  public void testAsManyStayAsShareAllThatOthersLeave() {
    // Twelve threads want three processors, and wait for them three quarters of the time.
    pass(50, 5, 3, 12);
    assertTrue("threads " + room.threads(), room.threads() < 12);
    assertTrue("threads " + room.threads(), room.threads() > 3);
  }

  @Test
  public void testThreadsThatOnlyWaitAreNotWithoutLimit() {
    pass(50, 0, 0, 4);
    assertTrue("threads " + room.threads(), room.threads() <= 200 * PROCESSORS);
  }

  @Test
  public void testAMomentOfWorkSaysNothing() {
    pass(20, 0.2, 0.0001, 0.001);
    assertEquals(7, room.threads());
  }

  @Test
  public void testTheClocksAreReadOncePerPeriod() {
    int before = clocks.looks;
    for (int i = 0; i < 100; i++) {
      clocks.now += PERIOD / 10;
      room.threads();
    }
    assertEquals(10, clocks.looks - before);
  }

  @Test
  public void testAJvmThatDoesNotTellIsTakenToHaveRoom() {
    clocks.pass(0, 0, 0);
    clocks.processCpu = -1;
    assertEquals(Integer.MAX_VALUE, room.threads());
    assertEquals(Integer.MAX_VALUE, room.threadsThatWait());
    clocks.processCpu = 1;
    clocks.threadsCpu = -1;
    clocks.now += PERIOD;
    assertEquals(Integer.MAX_VALUE, room.threads());
  }

  @Test
  public void testThisJvmTells() {
    HandoffThreadPool threads = new HandoffThreadPool(Thread::new, 1, MILLI, 0);
    int count = CpuHeadroom.of(threads).threads();
    assertTrue("threads " + count, count <= Runtime.getRuntime().availableProcessors());
  }
}
