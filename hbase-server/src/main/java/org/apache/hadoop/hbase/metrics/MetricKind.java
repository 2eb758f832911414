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
package org.apache.hadoop.hbase.metrics;

import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The kinds of metrics whose value another class keeps, which determines the type at /prometheus.
 * In JMX both are numbers. Thread-safe.
 */
@InterfaceAudience.Private
public enum MetricKind {
  /** A value that rises and falls. */
  GAUGE {
    @Override
    Metric metric(LongSupplier value) {
      return (Gauge<Long>) value::getAsLong;
    }
  },

  /** A total since the start, which never falls. */
  COUNTER {
    @Override
    Metric metric(LongSupplier value) {
      return new ReadCounter(value);
    }
  };

  /** Receives metrics. */
  @InterfaceAudience.Private
  @FunctionalInterface
  public interface Visitor {
    /**
     * Receives a metric.
     * @param value supplies the value; may be called by any thread
     */
    void visit(MetricKind kind, String name, LongSupplier value);
  }

  /** A counter that is incremented elsewhere. */
  private static final class ReadCounter implements Counter {
    private final LongSupplier value;

    ReadCounter(LongSupplier value) {
      this.value = value;
    }

    @Override
    public long getCount() {
      return value.getAsLong();
    }

    @Override
    public void increment() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void increment(long n) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void decrement() {
      throw new UnsupportedOperationException();
    }

    @Override
    public void decrement(long n) {
      throw new UnsupportedOperationException();
    }
  }

  abstract Metric metric(LongSupplier value);

  /** Registers a metric, and replaces a former one of this name. */
  public void register(MetricRegistry registry, String name, LongSupplier value) {
    registry.remove(name);
    registry.register(name, metric(value));
  }
}
