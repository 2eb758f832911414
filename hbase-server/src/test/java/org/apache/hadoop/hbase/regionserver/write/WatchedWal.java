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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;

/** Watches the edits of a WAL; its syncs wait, or fail, when they are told to. Thread-safe. */
public final class WatchedWal {

  /** Is told of each edit with data before it is appended. */
  public interface Observer {
    /** @throws IOException with which the append fails */
    void appending(RegionInfo region, WALKeyImpl key) throws IOException;
  }

  /** What syncs wait for. */
  private static final class Gate {
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);
  }

  private final Observer observer;
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicReference<Gate> gate = new AtomicReference<>();

  public WatchedWal(Observer observer) {
    this.observer = observer;
  }

  /** Returns a WAL that is watched. */
  public WAL of(WAL wal) {
    return (WAL) Proxy.newProxyInstance(WAL.class.getClassLoader(), new Class<?>[] { WAL.class },
      (proxy, method, args) -> {
        if (method.getName().equals("appendData") && !((WALEdit) args[2]).isMetaEdit()) {
          observer.appending((RegionInfo) args[0], (WALKeyImpl) args[1]);
        }
        if (method.getName().equals("sync")) {
          Gate closed = gate.get();
          if (closed != null) {
            closed.reached.countDown();
            closed.opened.await();
          }
          Throwable thrown = failure.get();
          if (thrown != null) {
            throw thrown;
          }
        }
        try {
          return method.invoke(wal, args);
        } catch (InvocationTargetException e) {
          throw e.getCause();
        }
      });
  }

  /** Has each sync fail from now on; null for none. */
  public void failSyncs(Throwable thrown) {
    failure.set(thrown);
  }

  /** Has each sync wait from now on. */
  public void closeGate() {
    gate.set(new Gate());
  }

  /**
   * Has each sync that begins from now on wait for another gate, once a sync waits for this one.
   * @return what opens this one
   */
  public Runnable closeNextGate() throws InterruptedException {
    assertTrue(gate.get().reached.await(60, TimeUnit.SECONDS));
    Gate closed = gate.getAndSet(new Gate());
    return closed.opened::countDown;
  }

  /** Lets syncs pass again. */
  public void openGate() {
    Gate closed = gate.getAndSet(null);
    if (closed != null) {
      closed.opened.countDown();
    }
  }
}
