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

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Ends a run with an error if an operation takes longer than a limit and nothing explains it. What
 * explains it is a fault that the test injects, or a region that moves: {@link #excuse}. The time
 * of a fault, and a grace period after it, do not count. Neither does time for which the machine
 * stood still, as the watch's own thread notices.
 * <p>
 * The error names the operations and the files with the evidence, which is collected while they
 * still hang. May be used by any thread.
 */
public final class HangWatch {
  /**
   * How long an operation may take: less than the timeout of a call, which would end a hang, and
   * more than a busy machine takes.
   */
  public static final Duration LIMIT = Duration.ofSeconds(30);

  private static final long INTERVAL_MILLIS = 200;
  /** A thread that slept so much longer than it wanted to did not get a processor. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long MAX_EVIDENCE_MINUTES = 3;
  private static final int MAX_NAMED = 10;

  /** Tells of operations that took long. */
  public interface Source {
    /** Returns the operations in flight each time, those that have ended once. */
    List<Operation> slow() throws Exception;
  }

  /** Collects what servers and clients do while operations hang, such as thread dumps. */
  public interface Evidence {
    /** Returns the files that it has written. */
    List<Path> collect(List<Operation> hanging) throws Exception;
  }

  /** What is watched. */
  public interface Body {
    void run() throws Exception;
  }

  /** Something that operations may have to wait for, until it is closed. */
  public interface Excuse extends AutoCloseable {
    @Override
    void close();
  }

  private final long origin = System.nanoTime();
  private final long limitNanos;
  private final long graceNanos;
  private final Source source;
  private final Evidence evidence;
  private final List<Span> spans = new ArrayList<>();
  private volatile AssertionError failure;

  /** Times are relative to the origin, so that they can be compared as they are. */
  private static final class Span implements Comparable<Span> {
    private final String reason;
    private final long from;
    private long to = Long.MAX_VALUE;

    private Span(String reason, long from) {
      this.reason = reason;
      this.from = from;
    }

    @Override
    public int compareTo(Span other) {
      return Long.compare(from, other.from);
    }

    @Override
    public String toString() {
      return reason;
    }
  }

  /**
   * @param limit how long an operation may take, as {@link #LIMIT}
   * @param grace how long the consequences of what is over may go on
   */
  public HangWatch(Duration limit, Duration grace, Source source, Evidence evidence) {
    this.limitNanos = limit.toNanos();
    this.graceNanos = grace.toNanos();
    this.source = source;
    this.evidence = evidence;
  }

  /**
   * Excuses operations from now on until the result is closed, and for the grace period after it.
   */
  public Excuse excuse(String reason) {
    return excuseFrom(System.nanoTime(), reason);
  }

  Excuse excuseFrom(long nanoTime, String reason) {
    Span span = new Span(reason, nanoTime - origin);
    synchronized (spans) {
      spans.add(span);
    }
    return () -> end(span, System.nanoTime());
  }

  /** Excuses operations until a {@link System#nanoTime()}, and for the grace period after it. */
  public void excuse(String reason, long until) {
    excuse(reason, System.nanoTime(), until);
  }

  void excuse(String reason, long from, long until) {
    Span span = new Span(reason, from - origin);
    span.to = until - origin + graceNanos;
    synchronized (spans) {
      spans.add(span);
    }
  }

  private void end(Span span, long now) {
    synchronized (spans) {
      span.to = Math.min(span.to, now - origin + graceNanos);
    }
  }

  /** Returns how much of an operation's time nothing explains, in ns. */
  long unexplainedNanos(Operation operation) {
    long from = operation.began() - origin;
    long to = operation.ended() - origin;
    long unexplained = 0;
    synchronized (spans) {
      spans.sort(Comparator.naturalOrder());
      for (Span span : spans) {
        if (span.from >= to) {
          break;
        }
        unexplained += Math.max(0, span.from - from);
        from = Math.max(from, span.to);
      }
    }
    return unexplained + Math.max(0, to - from);
  }

  /**
   * Runs something to its end, or until an operation hangs: then its thread is interrupted.
   * @throws AssertionError if an operation hung, whatever the body threw
   */
  public void run(Body body) throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    Thread owner = Thread.currentThread();
    Thread checker = new Thread(() -> watch(done, owner), "hang-watch");
    checker.setDaemon(true);
    checker.start();
    Throwable thrown = null;
    try {
      body.run();
    } catch (Exception | Error e) {
      thrown = e;
    }
    done.countDown();
    join(checker);
    if (failure == null && thrown == null) {
      check();
    }
    AssertionError hung = failure;
    if (hung != null) {
      if (thrown != null) {
        hung.addSuppressed(thrown);
      }
      throw hung;
    }
    if (thrown instanceof Error) {
      throw (Error) thrown;
    } else if (thrown != null) {
      throw (Exception) thrown;
    }
  }

  /** It may be collecting evidence, which is worth waiting for, and may interrupt this thread. */
  private void join(Thread checker) throws InterruptedException {
    boolean interrupted = Thread.interrupted();
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MAX_EVIDENCE_MINUTES);
    while (checker.isAlive() && end - System.nanoTime() > 0) {
      try {
        TimeUnit.NANOSECONDS.timedJoin(checker, end - System.nanoTime());
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    Thread.interrupted();
    if (interrupted && failure == null) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch(CountDownLatch done, Thread owner) {
    try {
      while (failure == null) {
        long before = System.nanoTime();
        if (done.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
        long now = System.nanoTime();
        if (now - before - TimeUnit.MILLISECONDS.toNanos(INTERVAL_MILLIS) > PAUSE_NANOS) {
          excuse("the machine stood still", before, now);
        }
        check();
      }
    } catch (Exception e) {
      // That the run is over may be what it failed of.
      if (done.getCount() > 0) {
        failure = new AssertionError("The hang watch cannot see the operations: " + e, e);
      }
    }
    interrupt(owner, done);
  }

  /**
   * Interrupts the thread until it leaves the body, since what it calls may swallow an interrupt.
   */
  private void interrupt(Thread owner, CountDownLatch done) {
    try {
      while (failure != null && done.getCount() > 0) {
        owner.interrupt();
        done.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Looks once at all operations. */
  private void check() throws Exception {
    List<Operation> hanging = source.slow().stream()
      .filter(operation -> unexplainedNanos(operation) >= limitNanos).collect(Collectors.toList());
    if (!hanging.isEmpty()) {
      failure = new AssertionError(describe(hanging) + "\nEvidence: " + collect(hanging));
    }
  }

  private String collect(List<Operation> hanging) {
    try {
      return evidence.collect(hanging).stream().map(Path::toString)
        .collect(Collectors.joining(", "));
    } catch (Exception e) {
      return "none, as it could not be collected: " + e;
    }
  }

  private String describe(List<Operation> hanging) {
    StringBuilder text = new StringBuilder(String.format(
      "%d operations took longer than %d ms, and nothing explains it:", hanging.size(),
      TimeUnit.NANOSECONDS.toMillis(limitNanos)));
    hanging.stream().limit(MAX_NAMED).forEach(operation -> text.append("\n  ")
      .append(describe(operation)));
    if (hanging.size() > MAX_NAMED) {
      text.append("\n  ...");
    }
    return text.toString();
  }

  /** Describes an operation in one line. */
  public String describe(Operation operation) {
    long from = operation.began() - origin;
    long to = operation.ended() - origin;
    String reasons;
    synchronized (spans) {
      reasons = spans.stream().filter(span -> span.from < to && span.to > from)
        .map(Span::toString).distinct().collect(Collectors.joining(", "));
    }
    return String.format("%s: %s %s %d ms, %d ms of it unexplained%s", operation.client(),
      operation.what(), operation.isInFlight() ? "has been in flight for" : "ended after",
      TimeUnit.NANOSECONDS.toMillis(to - from),
      TimeUnit.NANOSECONDS.toMillis(unexplainedNanos(operation)),
      reasons.isEmpty() ? "" : " (explained by: " + reasons + ")");
  }
}
