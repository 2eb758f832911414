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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Calls of many clients to three regions of a WAL, of which some are invalid, fail before their
 * write, find the scheduler full or a row or region locked, while committers are interrupted. Each
 * call ends, and its answer agrees with what is stored.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsUnderFailures extends WriteCallsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsUnderFailures.class);

  private static final int CLIENTS = 41;
  private static final int WRITES = 150;
  private static final int ONE_IN = 13;
  private static final String HOT = "hot";

  /** A put that was sent. */
  private static final class Sent {
    private final HRegion to;
    private final String row;
    private final boolean valid;
    private final Future<Result> answer;

    private Sent(HRegion to, String row, boolean valid, Future<Result> answer) {
      this.to = to;
      this.row = row;
      this.valid = valid;
      this.answer = answer;
    }
  }

  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS + 3);
  private volatile boolean ended;

  private HRegion any(Random random) {
    int target = random.nextInt(3);
    return target == 2 ? region : others[target];
  }

  private List<Sent> write(int client) throws Exception {
    Random random = new Random(client);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < WRITES; i++) {
      HRegion to = any(random);
      boolean fails = random.nextInt(ONE_IN) == 0;
      boolean valid = random.nextInt(ONE_IN) > 0;
      String row = (fails ? FAILS : "row") + client + "-" + i;
      Put put = new Put(Bytes.toBytes(row)).addColumn(valid ? F : Bytes.toBytes("none"), Q,
        Bytes.toBytes(row));
      Sent sent = new Sent(to, row, valid && !fails, send(to, put));
      all.add(sent);
      if (random.nextInt(4) == 0) {
        send(to, random.nextBoolean() ? put(HOT, row) : new Delete(Bytes.toBytes(HOT)));
      }
      if (random.nextInt(3) > 0) {
        // This client waits for its answer; others send the next put at once.
        try {
          sent.answer.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          // The end of the test compares it with the row.
        }
      }
    }
    return all;
  }

  private Void fillScheduler() throws Exception {
    Random random = new Random(1);
    while (!ended) {
      schedulerIsFull = random.nextInt(4) == 0;
      Thread.sleep(random.nextInt(3));
    }
    schedulerIsFull = false;
    return null;
  }

  private Void lock() throws Exception {
    Random random = new Random(2);
    while (!ended) {
      HRegion locked = any(random);
      RowLock row = locked.getRowLock(Bytes.toBytes(HOT));
      Thread.sleep(random.nextInt(3));
      row.release();
      locked.updatesLock.writeLock().lock();
      Thread.sleep(random.nextInt(2));
      locked.updatesLock.writeLock().unlock();
      Thread.sleep(random.nextInt(20));
    }
    return null;
  }

  private Void interruptCommitters() throws Exception {
    Random random = new Random(3);
    while (!ended) {
      Thread.sleep(20 + random.nextInt(20));
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().startsWith("WriteCommitter") && random.nextBoolean()) {
          thread.interrupt();
        }
      }
    }
    return null;
  }

  @Test
  public void testEachCallEndsAndItsAnswerIsTrue() throws Exception {
    List<Future<List<Sent>>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> write(client)));
    }
    List<Future<?>> disturbing = new ArrayList<>();
    disturbing.add(clients.submit(this::fillScheduler));
    disturbing.add(clients.submit(this::lock));
    disturbing.add(clients.submit(this::interruptCommitters));
    List<Sent> all = new ArrayList<>();
    for (Future<List<Sent>> client : running) {
      all.addAll(client.get(5, TimeUnit.MINUTES));
    }
    int written = 0;
    for (Sent sent : all) {
      written += isWritten(sent) ? 1 : 0;
    }
    ended = true;
    for (Future<?> one : disturbing) {
      one.get(60, TimeUnit.SECONDS);
    }
    clients.shutdown();
    assertEquals(CLIENTS * WRITES, all.size());
    assertTrue(written + " written", written > all.size() / 2);
  }

  private static boolean isWritten(Sent sent) throws Exception {
    try {
      sent.answer.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable failure = e.getCause();
      if (!sent.valid || failure instanceof DoNotRetryIOException || isTooBusy(failure)) {
        assertNull(sent.row + ": " + failure, stored(sent));
      }
      return false;
    }
    assertTrue("invalid", sent.valid);
    assertEquals(sent.row, stored(sent));
    return true;
  }

  private static String stored(Sent sent) throws IOException {
    return stored(sent.to, sent.row);
  }
}
