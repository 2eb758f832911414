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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.writegroup.CallSender;

/** Sends increments as calls, which wait without a thread. */
final class IncrementCallSender implements IncrementSender {
  private final IncrementFixture fixture;
  final CallSender calls;

  IncrementCallSender(IncrementFixture fixture) {
    this.fixture = fixture;
    calls = new CallSender(() -> fixture.coalescer.groups(), () -> fixture.region,
      IncrementFixture.CLIENT, fixture.threads, fixture.running);
  }

  @Override
  public Future<Result> send(Increment increment, long nonce) {
    return calls.send(increment, nonce, false);
  }

  @Override
  public int behindAnotherKind() {
    return 1;
  }

  @Override
  public void assertGaveUp(Future<Result> repeated) {
    ExecutionException e = assertThrows(ExecutionException.class, repeated::get);
    assertTrue(e.toString(), e.getCause() instanceof RegionTooBusyException);
  }

  @Override
  public Result stormy(Increment increment, long nonce) throws Exception {
    calls.oneIn = 50;
    try {
      // Some come in threads, like those of batches.
      return (nonce % 4 == 0 ? fixture.sendInThread(increment, nonce) : send(increment, nonce))
        .get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }
}
