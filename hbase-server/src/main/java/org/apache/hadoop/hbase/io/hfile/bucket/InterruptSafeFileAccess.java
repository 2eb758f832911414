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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An access to a file of the cache that an interrupt does not end. A file channel is
 * closed when a thread is interrupted that uses it or is about to, under every thread that reads or
 * writes by it at that moment. Here a thread puts an interrupt off until it is done, so that it
 * closes nothing by beginning; and one whose channel was closed in the middle begins again at the
 * beginning, since what it has done so far is not known to be whole. The access opens the channel
 * again.
 * <p>
 * An access takes as long as a block does to be read or written, so that the interrupt, which is
 * still pending when it ends, is answered soon enough.
 */
@InterfaceAudience.Private
public final class InterruptSafeFileAccess {

  /** Reads, writes or syncs a file. */
  @InterfaceAudience.Private
  public interface Access {
    /** @throws ClosedChannelException if that can be tried again */
    void run() throws IOException;
  }

  private InterruptSafeFileAccess() {
  }

  /**
   * Runs {@code access} until it is not interrupted.
   * @param buff what it reads into or writes from, which is as it was at each new start
   * @throws IOException what it throws, except for {@link ClosedChannelException}
   */
  static void run(ByteBuff buff, Access access) throws IOException {
    int position = buff.position();
    int limit = buff.limit();
    run(() -> {
      buff.limit(limit);
      buff.position(position);
      access.run();
    });
  }

  /**
   * Runs {@code access} until it is not interrupted.
   * @throws IOException what it throws, except for {@link ClosedChannelException}
   */
  public static void run(Access access) throws IOException {
    boolean interrupted = Thread.interrupted();
    try {
      while (true) {
        try {
          access.run();
          return;
        } catch (ClosedChannelException e) {
          interrupted |= Thread.interrupted();
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
