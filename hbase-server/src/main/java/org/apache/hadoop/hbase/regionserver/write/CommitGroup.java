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

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.ResponseBatch;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes that are committed together. {@link #commit} locks what they need without waiting, leaves
 * the writes that would have to wait to the scheduler or to another queue, and runs the calls of
 * the others, each nested in the one before, up to where it would write. The innermost one finds
 * that all have arrived, and the group is written. Then each call finishes, with its own outcome.
 * <p>
 * Invariant: each write that was taken is answered, or left to the scheduler or to one other queue
 * before any part of its call was run; and no call is run while it might wait for anything but
 * processors and the WAL.
 * <p>
 * An instance is for one group and for the committer that commits it.
 */
@InterfaceAudience.Private
public abstract class CommitGroup {
  private static final Logger LOG = LoggerFactory.getLogger(CommitGroup.class);

  /** Calls that are still to be run. */
  private final ArrayDeque<WriteCall> calls = new ArrayDeque<>();
  /** Writes that have reached their region, in order. */
  private final List<WriteCall> members = new ArrayList<>();
  private final Runnable afterAppend;
  /** The call that runs, the innermost one. */
  private WriteCall running;
  private boolean written;
  private GroupAppend append;

  /** @param afterAppend called once, when the group is appended and not synced; does not throw */
  protected CommitGroup(Runnable afterAppend) {
    this.afterAppend = afterAppend;
  }

  /**
   * Locks what the writes need.
   * @return those that can be written now, in their order, without waiting for a lock; the others
   *         are passed on, or left to the scheduler
   */
  protected abstract List<WriteCall> lock(List<WriteCall> taken) throws IOException;

  /**
   * Has a write that cannot be written now wait in another queue, if there is one for it.
   * @return false if it is to be left to the scheduler
   */
  protected boolean passOn(WriteCall call) {
    return false;
  }

  /** Unlocks all that {@link #lock} has locked. May be called again. */
  protected abstract void unlock();

  /**
   * Writes all members, and completes each of them, or fails for those that are not complete. The
   * locks are held, and the thread has no current call.
   */
  protected abstract void write(List<WriteCall> arrived) throws IOException;

  /** Commits what was taken. Throws nothing: what waits would wait forever. */
  final void commit(List<WriteCall> taken) {
    // A pending interrupt is that of a region's close, which interrupts the threads that have
    // entered the region. This thread has not entered it, so the interrupt is cleared.
    Thread.interrupted();
    ArrayDeque<WriteCall> left = new ArrayDeque<>(taken);
    try (ResponseBatch responses = ResponseBatch.begin()) {
      Committer.setGroup(this);
      try {
        List<WriteCall> ready = lock(taken);
        left.clear();
        for (WriteCall call : taken) {
          if (calls.size() < ready.size() && ready.get(calls.size()) == call) {
            calls.add(call);
          } else if (!passOn(call)) {
            left.add(call);
          }
        }
        dispatch(left);
        runCalls();
      } finally {
        Committer.setGroup(null);
        unlock();
      }
    } catch (IOException | RuntimeException | Error e) {
      LOG.error("A group of writes has failed", e);
    } finally {
      dispatch(left);
      dispatch(calls);
    }
  }

  private static void dispatch(ArrayDeque<WriteCall> some) {
    for (WriteCall call = some.poll(); call != null; call = some.poll()) {
      call.dispatch();
    }
  }

  private void runCalls() {
    WriteCall outer = running;
    RpcCall outerCall = RpcServer.getCurrentCall().orElse(null);
    for (WriteCall next = calls.poll(); next != null; next = calls.poll()) {
      running = next;
      next.run();
      running = outer;
      RpcServer.setCurrentCall(outerCall);
    }
    if (!written && !members.isEmpty()) {
      written = true;
      RpcServer.setCurrentCall(null);
      try {
        write(members);
      } catch (Throwable e) {
        fail(members, e);
      } finally {
        RpcServer.setCurrentCall(outerCall);
        unlock();
      }
    }
  }

  /** Fails those of the writes that are not complete. */
  protected static void fail(List<WriteCall> writes, Throwable cause) {
    for (WriteCall write : writes) {
      if (!write.isDone()) {
        write.failed(cause);
      }
    }
  }

  /**
   * Called within a call once it has its mutations and is permitted to write them. Returns when the
   * group was written.
   * @return its result, null if its kind has none
   * @throws IOException if it was not written, or may not have been
   */
  public final Result arrive(Row write) throws IOException {
    WriteCall own = running;
    own.setWrite(write);
    members.add(own);
    runCalls();
    return own.conclude();
  }

  /** Returns the append that the thread is about to make, or null. */
  final GroupAppend append() {
    return append;
  }

  /**
   * Sets the append that the thread makes from now on.
   * @return the one before; null if there was none
   */
  protected final GroupAppend setAppend(GroupAppend next) {
    GroupAppend before = append;
    append = next;
    return before;
  }

  /** Called when all edits of the group are appended, or have failed. */
  protected final void appended() {
    afterAppend.run();
  }
}
