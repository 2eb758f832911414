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
package dev.stratum.local;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.Property;

/**
 * Reports on the console that a server has run out of memory. A RegionServer logs the error and
 * halts the JVM, so the report is printed as soon as the error is logged, once. Thread-safe.
 */
final class OutOfMemoryReport extends AbstractAppender {
  private static final String NAME = "out-of-memory-report";
  private static final int MAX_CAUSES = 20;

  private final PrintStream err;
  private final String log;
  private final long heapMb;
  private final long directMb;
  private final AtomicBoolean printed = new AtomicBoolean();

  /**
   * @param log      path of the log
   * @param heapMb   the JVM's limit of the heap
   * @param directMb the JVM's limit of direct memory
   */
  OutOfMemoryReport(PrintStream err, Object log, long heapMb, long directMb) {
    super(NAME, null, null, true, Property.EMPTY_ARRAY);
    this.err = err;
    this.log = log.toString();
    this.heapMb = heapMb;
    this.directMb = directMb;
  }

  /** Adds the report to the root logger. */
  void install() {
    LoggerContext context = (LoggerContext) LogManager.getContext(false);
    Configuration configuration = context.getConfiguration();
    start();
    configuration.addAppender(this);
    configuration.getRootLogger().addAppender(this, null, null);
    context.updateLoggers();
  }

  @Override
  public void append(LogEvent event) {
    report(event.getThrown());
  }

  /** Prints the report if memory is the cause and nothing has been printed. */
  void report(Throwable thrown) {
    OutOfMemoryError error = cause(thrown);
    if (error != null && printed.compareAndSet(false, true)) {
      err.println("run-local: " + sentence(error.getMessage(), heapMb, directMb));
      err.println("run-local: the log is " + log);
      err.flush();
    }
  }

  private static OutOfMemoryError cause(Throwable thrown) {
    Throwable cause = thrown;
    for (int i = 0; i < MAX_CAUSES && cause != null; i++) {
      if (cause instanceof OutOfMemoryError) {
        return (OutOfMemoryError) cause;
      }
      cause = cause.getCause();
    }
    return null;
  }

  /** Returns the cause, the keys that determine the memory, and the remedy. */
  static String sentence(String message, long heapMb, long directMb) {
    String cause = "A server has run out of memory: " + message + ". ";
    String lower = String.valueOf(message).toLowerCase(Locale.ROOT);
    if (lower.contains("direct")) {
      return cause + "-XX:MaxDirectMemorySize is " + directMb + " MB; L1"
        + " (hbase.bucketcache.l1.size, --l1-mb) and the buffers of RPC and HDFS are in it. Raise"
        + " it with HBASE_OPTS=-XX:MaxDirectMemorySize=" + 2 * directMb + "m, or lower --l1-mb.";
    }
    if (lower.contains("thread")) {
      return cause + "The limit is that of this user or container; raise ulimit -u.";
    }
    return cause + "-Xmx is " + heapMb + " MB; the memstore"
      + " (hbase.regionserver.global.memstore.size) and the map of L2 (hbase.bucketcache.l2.size,"
      + " --l2-mb) are in it. Raise it with HBASE_OPTS=-Xmx" + 2 * heapMb
      + "m, or lower one of the keys.";
  }
}
