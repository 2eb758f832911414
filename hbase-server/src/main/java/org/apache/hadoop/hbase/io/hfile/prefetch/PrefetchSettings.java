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
package org.apache.hadoop.hbase.io.hfile.prefetch;

import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * How fast and in which order files are warmed. All of it may change while the server runs.
 * Immutable. See HBASE-23355.
 */
@InterfaceAudience.Private
public final class PrefetchSettings {

  /**
   * How much all prefetch threads together read from the file system, in MB per second from 0 on,
   * fractions included. By default 0: as much as they can.
   */
  public static final String LIMIT_KEY = "hbase.rs.prefetch.limit.mb.per.sec";

  /** Which file comes first: {@code request}, the default, or {@code newest}. */
  public static final String ORDER_KEY = "hbase.rs.prefetch.order";

  /**
   * How full a writer queue of the block cache may be while more is read, as a part of its length
   * from 0 to 1. By default 1: warm-up does not care, and what finds a queue full is dropped.
   */
  public static final String QUEUE_MAX_KEY = "hbase.rs.prefetch.writer.queue.max";

  /** What is warmed first. */
  public enum Order {
    /** One file after the other as they were opened, as in stock. */
    REQUEST,
    /** Index and bloom blocks of all files, then data; both of the newest file first. */
    NEWEST
  }

  /** As stock. */
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

  /**
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public static PrefetchSettings of(Configuration conf) {
    double limit = number(conf, LIMIT_KEY, 0, 0, MAX_LIMIT,
      "set it to MB per second from 0 to 1000000, 0 for no limit.");
    double queueMax = number(conf, QUEUE_MAX_KEY, 1, 0, 1,
      "set it to a number from 0 to 1, such as 0.5 to wait while a queue is more than half full, "
        + "or to 1 not to wait.");
    return new PrefetchSettings(limit == 0 ? 0 : Math.max(1, (long) (limit * MB)), order(conf),
      queueMax);
  }

  private static double number(Configuration conf, String key, double missing, double min,
    double max, String remedy) {
    String value = conf.getTrimmed(key);
    if (value == null) {
      return missing;
    }
    try {
      double number = Double.parseDouble(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(key + " is '" + value + "'; " + remedy);
  }

  private static Order order(Configuration conf) {
    String value = conf.getTrimmed(ORDER_KEY, "request");
    for (Order order : Order.values()) {
      if (order.name().toLowerCase(Locale.ROOT).equals(value)) {
        return order;
      }
    }
    throw new IllegalArgumentException(ORDER_KEY + " is '" + value
      + "'; set it to 'newest' or, for the order in which files are opened, to 'request'.");
  }

  /** Returns the limit of all threads together, 0 if there is none. */
  public long bytesPerSecond() {
    return bytesPerSecond;
  }

  public Order order() {
    return order;
  }

  /** Returns how full a writer queue may be, 1 if it does not matter. */
  public double queueMax() {
    return queueMax;
  }

  @Override
  public String toString() {
    return LIMIT_KEY + "=" + bytesPerSecond / MB + ", " + ORDER_KEY + "="
      + order.name().toLowerCase(Locale.ROOT) + ", " + QUEUE_MAX_KEY + "=" + queueMax;
  }
}
