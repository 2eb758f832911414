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
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Calls of many clients to three regions of a WAL, of which some are invalid, fail before their
 * write, find the scheduler full, or are dropped while they wait for a handler, and handlers that
 * are interrupted, all at once. Each call ends, and its answer agrees with what is stored.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsUnderFailures extends MutationGroupsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsUnderFailures.class);

  private static final int CLIENTS = 41;
  private static final int WRITES = 150;
  private static final int ONE_IN = 13;

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

    private String stored() throws IOException {
      return MutationGroupsFixture.stored(to, row);
    }
  }

  private volatile boolean ended;

  private List<Sent> write(int client) throws Exception {
    Random random = new Random(client);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < WRITES; i++) {
      int target = random.nextInt(3);
      HRegion to = target == 2 ? region : others[target];
      String row = "row" + client + "-" + i;
      boolean valid = random.nextInt(ONE_IN) > 0;
      Put put = new Put(Bytes.toBytes(row)).addColumn(valid ? F : Bytes.toBytes("none"), Q,
        Bytes.toBytes(row));
      Sent sent = new Sent(to, row, valid, calls.send(to, put));
      all.add(sent);
      if (random.nextInt(3) > 0) {
        // A client that waits for its answer; others send the next put at once.
        try {
          sent.answer.get(60, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
          // Compared with the row at the end.
        }
      }
    }
    return all;
  }

  /** Has handlers be busy for moments, and drops a part of the calls that have waited for one. */
  private Void keepHandlersBusy() throws Exception {
    Random random = new Random(1);
    while (!ended) {
      calls.handlersAreBusy = true;
      Thread.sleep(random.nextInt(3));
      calls.handlersAreBusy = false;
      runOrDrop(random);
      Thread.sleep(random.nextInt(5));
    }
    calls.handlersAreBusy = false;
    runOrDrop(random);
    return null;
  }

  private void runOrDrop(Random random) {
    for (CallRunner call = calls.busy.poll(); call != null; call = calls.busy.poll()) {
      if (random.nextInt(4) == 0) {
        call.drop();
      } else {
        threads.submit(call::run);
      }
    }
  }

  private Void interruptHandlers() throws Exception {
    Random random = new Random(2);
    while (!ended) {
      Thread.sleep(20 + random.nextInt(20));
      for (Thread handler : calls.running) {
        if (random.nextInt(4) == 0) {
          handler.interrupt();
        }
      }
    }
    return null;
  }

  @Test
  public void testEachCallEndsAndItsAnswerIsTrue() throws Exception {
    calls.oneIn = ONE_IN;
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS + 2);
    List<Future<List<Sent>>> running = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      running.add(clients.submit(() -> write(client)));
    }
    Future<?> busy = clients.submit(this::keepHandlersBusy);
    Future<?> interrupts = clients.submit(this::interruptHandlers);
    List<Sent> all = new ArrayList<>();
    for (Future<List<Sent>> client : running) {
      all.addAll(client.get(5, TimeUnit.MINUTES));
    }
    int written = 0;
    for (Sent sent : all) {
      written += isWritten(sent) ? 1 : 0;
    }
    ended = true;
    busy.get(60, TimeUnit.SECONDS);
    interrupts.get(60, TimeUnit.SECONDS);
    clients.shutdown();
    assertEquals(CLIENTS * WRITES, all.size());
    assertTrue(written + " written", written > 0);
  }

  private static boolean isWritten(Sent sent) throws Exception {
    try {
      sent.answer.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      Throwable failure = e.getCause();
      if (
        !sent.valid || failure instanceof DoNotRetryIOException
          || failure instanceof CallDroppedException || failure instanceof CallQueueTooBigException
      ) {
        assertNull(sent.row + ": " + failure, sent.stored());
      }
      return false;
    }
    assertTrue("invalid", sent.valid);
    assertEquals(sent.row, sent.stored());
    return true;
  }
}
