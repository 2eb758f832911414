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
package dev.stratum.processes;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The operations of the client threads of this process that are in flight, for a {@link HangWatch}
 * in this process or in another one. An operation costs two readings of the clock and three
 * volatile writes.
 */
public final class Operations implements HangWatch.Source {
  private static final int MAX_DESCRIPTION = 400;

  private final long limitNanos;
  private final List<Client> clients = new CopyOnWriteArrayList<>();
  private final Queue<Operation> ended = new ConcurrentLinkedQueue<>();

  /** @param limit operations that take less are of no interest */
  public Operations(Duration limit) {
    this.limitNanos = limit.toNanos();
  }

  /** One client thread, which alone may call this. */
  public final class Client {
    private final String name;
    private volatile Object what;
    private volatile long began;

    private Client(String name) {
      this.name = name;
    }

    /** @param operation described by its class and <code>toString()</code>, only if it hangs */
    public void begin(Object operation) {
      began = System.nanoTime();
      what = operation;
    }

    public void end() {
      Object operation = what;
      what = null;
      long now = System.nanoTime();
      if (now - began >= limitNanos) {
        ended.add(new Operation(name, describe(operation), began, now, false));
      }
    }

    private Operation inFlight() {
      // The order matters: if another operation begins meanwhile, its start is read for this
      // operation, which makes this one shorter.
      Object operation = what;
      long from = began;
      long now = System.nanoTime();
      return operation == null || now - from < limitNanos
        ? null
        : new Operation(name, describe(operation), from, now, true);
    }
  }

  /** Adds a client thread. */
  public Client client(String name) {
    Client client = new Client(name);
    clients.add(client);
    return client;
  }

  private static String describe(Object operation) {
    String text = operation instanceof String
      ? (String) operation
      : operation.getClass().getSimpleName() + " " + operation;
    return text.length() <= MAX_DESCRIPTION ? text : text.substring(0, MAX_DESCRIPTION) + "...";
  }

  /** Returns those in flight, and those that have ended since the last call. */
  @Override
  public List<Operation> slow() {
    List<Operation> slow = new ArrayList<>();
    for (Client client : clients) {
      Operation operation = client.inFlight();
      if (operation != null) {
        slow.add(operation);
      }
    }
    for (Operation operation = ended.poll(); operation != null; operation = ended.poll()) {
      slow.add(operation);
    }
    return slow;
  }
}
