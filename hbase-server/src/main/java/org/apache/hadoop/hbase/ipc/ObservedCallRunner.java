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
package org.apache.hadoop.hbase.ipc;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * A call that notifies a watcher when a handler begins it and when it ends, whether it was run or
 * dropped.
 */
@InterfaceAudience.Private
public final class ObservedCallRunner extends CallRunner {

  /** Receives the notifications of a call. */
  public interface Watcher {

    /** Called by the thread that is about to run the call. */
    void begin();

    /** Called by the thread that has run or dropped the call, once it is answered. */
    void end();
  }

  private final Watcher watcher;

  public ObservedCallRunner(RpcServerInterface rpcServer, RpcCall call, Watcher watcher) {
    super(rpcServer, call);
    this.watcher = watcher;
  }

  @Override
  public void run() {
    watcher.begin();
    try {
      super.run();
    } finally {
      watcher.end();
    }
  }

  @Override
  public void drop() {
    try {
      super.drop();
    } finally {
      watcher.end();
    }
  }
}
