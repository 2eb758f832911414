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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.Locale;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Rate and order of prefetching. All settings may change at runtime. Immutable. See HBASE-23355.
 */
@InterfaceAudience.Private
public final class PrefetchSettings {

  /**
   * Maximum read rate of all prefetch threads together, in MB per second, at least 0; fractions are
   * allowed. Default: 0, no limit.
   */
  public static final String LIMIT_KEY = "hbase.rs.prefetch.limit.mb.per.sec";

  /** The order of files: {@code request}, the default, or {@code newest}. */
  public static final String ORDER_KEY = "hbase.rs.prefetch.order";

  /**
   * Maximum fill level of a writer queue of the block cache at which prefetching continues to read,
   * as a fraction of its length from 0 to 1. Default: 1: prefetching does not wait, and blocks that
   * find a queue full are dropped.
   */
  public static final String QUEUE_MAX_KEY = "hbase.rs.prefetch.writer.queue.max";

  /** The order of prefetching. */
  public enum Order {
    /** Files in the order in which they were opened, as in upstream. */
    REQUEST,
    /** Index and bloom blocks of all files, then data; in both cases the newest file first. */
    NEWEST
  }

  /** The behaviour of upstream. */
  static final PrefetchSettings NONE = new PrefetchSettings(0, Order.REQUEST, 1);

  private static final double MAX_LIMIT = 1e6;
  private static final double MB = 1 << 20;

  private final long bytesPerSecond;
  private final Order order;
  private final double queueMax;

  private PrefetchSettings(long bytesPerSecond, Order order, double queueMax) {
    this.bytesPerSecond = bytesPerSecond;
    this.order = order;
    this.queueMax = queueMax;
  }

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  public static PrefetchSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    double limit = reader.fractionIn(LIMIT_KEY, 0, 0, MAX_LIMIT,
      "Set a number of MB per second, or 0 for no limit");
    double queueMax = reader.fractionIn(QUEUE_MAX_KEY, 1, 0, 1,
      "Set a number such as 0.5 to wait while a queue is more than half full, or 1 not to wait");
    String order = reader.oneOf(ORDER_KEY, word(Order.REQUEST),
      Stream.of(Order.values()).map(PrefetchSettings::word).toArray(String[]::new));
    return new PrefetchSettings(limit == 0 ? 0 : Math.max(1, (long) (limit * MB)),
      Order.valueOf(order.toUpperCase(Locale.ROOT)), queueMax);
  }

  /** Returns the value of the key for an order. */
  private static String word(Order order) {
    return order.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the limit of all threads together in bytes per second, 0 if there is none. */
  public long bytesPerSecond() {
    return bytesPerSecond;
  }

  public Order order() {
    return order;
  }

  /** Returns the maximum fill level of a writer queue, 1 for no limit. */
  public double queueMax() {
    return queueMax;
  }

  @Override
  public String toString() {
    return LIMIT_KEY + "=" + bytesPerSecond / MB + ", " + ORDER_KEY + "="
      + word(order) + ", " + QUEUE_MAX_KEY + "=" + queueMax;
  }
}
