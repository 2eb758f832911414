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
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;

/**
 * What the event loops of this JVM wait for, as its recorder sees it: a sleeping thread, one that
 * waits for another to signal something, a file, a blocking socket. Each loop serves many
 * connections. Not told are locks: the recorder cannot say for what a holder has them, and most
 * are held for moments; and classes that are loaded or initialized. Thread-safe.
 */
final class EventLoopWaits {
  private static final String LOOPS = "RS-EventLoopGroup";
  private static final String HBASE = "org.apache.hadoop.hbase.";
  private static final String MONITOR_WAIT = "jdk.JavaMonitorWait";
  private static final String OBJECT_WAIT = "java.lang.Object.wait";
  private static final List<String> EVENTS =
    List.of("jdk.ThreadPark", "jdk.ThreadSleep", MONITOR_WAIT, "jdk.FileRead",
      "jdk.FileWrite", "jdk.FileForce", "jdk.SocketRead", "jdk.SocketWrite");
  private static final Set<String> ALLOWED = Set.of("java.lang.ClassLoader.loadClass",
    "java.util.concurrent.locks.ReentrantLock.lock",
    "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock",
    "java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock",
    "java.util.concurrent.ConcurrentHashMap$TreeBin.contendedLock");
  private static final int FLUSH_SECONDS = 120;
  /** Frames that a message has. */
  private static final int FRAMES = 25;

  private final RecordingStream stream = new RecordingStream();
  /** How often, by event and stack. */
  private final Map<String, Integer> found = new ConcurrentSkipListMap<>();

  /** Begins to watch. */
  EventLoopWaits() {
    for (String event : EVENTS) {
      stream.enable(event).withStackTrace().withThreshold(Duration.ZERO);
      stream.onEvent(event, this::look);
    }
    stream.startAsync();
  }

  private void look(RecordedEvent event) {
    RecordedThread thread = event.getThread();
    if (
      thread == null || thread.getJavaName() == null || !thread.getJavaName().startsWith(LOOPS)
        || event.getStackTrace() == null
    ) {
      return;
    }
    List<String> frames = event.getStackTrace().getFrames().stream().map(EventLoopWaits::name)
      .collect(Collectors.toList());
    boolean ours = frames.stream().anyMatch(frame -> frame.startsWith(HBASE));
    String type = event.getEventType().getName();
    // The JVM itself waits like this for a class that another thread initializes.
    boolean initialization = type.equals(MONITOR_WAIT) && !frames.get(0).equals(OBJECT_WAIT);
    if (ours && !initialization && frames.stream().noneMatch(ALLOWED::contains)) {
      found.merge(type + ": "
        + frames.stream().limit(FRAMES).collect(Collectors.joining(" < ")), 1, Integer::sum);
    }
  }

  private static String name(RecordedFrame frame) {
    return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
  }

  /** Returns how often there was which wait until now. */
  Map<String, Integer> found() throws InterruptedException {
    // What happened before is in the second flush from now on at the latest.
    CountDownLatch flushes = new CountDownLatch(2);
    stream.onFlush(flushes::countDown);
    if (!flushes.await(FLUSH_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("The recorder does not write");
    }
    return Map.copyOf(found);
  }
}
