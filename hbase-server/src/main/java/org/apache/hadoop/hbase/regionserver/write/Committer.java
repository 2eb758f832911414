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

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A thread that commits groups of writes. It runs the calls of a group, each nested in the one
 * before, so that each has its own user, quota, span and metrics, and all have reached their region
 * when the group is written. What may make a call wait is decided before it is run here.
 * <p>
 * The group belongs to the thread: the hooks in the base find it by {@link #group()}.
 */
@InterfaceAudience.Private
public final class Committer extends Thread {

  /** Size of the stack in bytes, which has the calls of a group nested in each other. */
  private static final long STACK_BYTES = 16L << 20;
  private static final int IDLE_SECONDS = 60;

  private CommitGroup group;

  private Committer(Runnable work, String name) {
    super(null, work, name, STACK_BYTES);
    setDaemon(true);
  }

  /** Returns the group that the calling thread commits, or null. */
  public static CommitGroup group() {
    Thread thread = Thread.currentThread();
    return thread instanceof Committer ? ((Committer) thread).group : null;
  }

  /** Sets the group that the calling thread, a committer, commits from now on; null for none. */
  static void setGroup(CommitGroup group) {
    ((Committer) Thread.currentThread()).group = group;
  }

  /** Returns what makes committers. */
  public static ThreadFactory factory(String name) {
    AtomicInteger count = new AtomicInteger();
    return work -> new Committer(work, name + "-" + count.getAndIncrement());
  }

  /**
   * Returns a pool of committers, which end after a minute without work.
   * @param max maximum number of committers; more work is rejected
   */
  public static ExecutorService pool(String name, int max) {
    return new ThreadPoolExecutor(0, max, IDLE_SECONDS, TimeUnit.SECONDS,
      new SynchronousQueue<>(), factory(name));
  }
}
