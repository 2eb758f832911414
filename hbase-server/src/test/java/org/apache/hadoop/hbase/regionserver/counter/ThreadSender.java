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

import java.util.concurrent.Future;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;

/** Executes each increment in a thread of its own, which waits in the coalescer. */
final class ThreadSender implements IncrementSender {
  private final IncrementFixture fixture;

  ThreadSender(IncrementFixture fixture) {
    this.fixture = fixture;
  }

  @Override
  public Future<Result> send(Increment increment, long nonce) {
    return fixture.sendInThread(increment, nonce);
  }

  @Override
  public int behindAnotherKind() {
    return 0;
  }

  /** One that waits for its repetition, which has the nonce. */
  @Override
  public void assertGaveUp(Future<Result> repeated) throws Exception {
    fixture.nonces.endOperation(IncrementFixture.CLIENT, fixture.lastNonce, true);
    repeated.get();
  }

  @Override
  public Result stormy(Increment increment, long nonce) throws Exception {
    return fixture.increment(increment, nonce);
  }
}
