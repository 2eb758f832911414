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

/** How increments reach a coalescer, and how that differs from the other ways. */
interface IncrementSender {
  Future<Result> send(Increment increment, long nonce);

  /** How many wait for one that they are not merged with. */
  int behindAnotherKind();

  /** Asserts how an increment ends while its repetition has the nonce. */
  void assertGaveUp(Future<Result> repeated) throws Exception;

  /** Does an increment as one of many. */
  Result stormy(Increment increment, long nonce) throws Exception;
}
