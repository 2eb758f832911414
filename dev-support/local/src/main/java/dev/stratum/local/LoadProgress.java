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

import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Shows how far a load has come: a bar on a terminal, a line per tenth elsewhere. Safe for use by
 * several threads.
 */
final class LoadProgress implements AutoCloseable {
  private static final int BAR_WIDTH = 78;
  private static final int UPDATE_MILLIS = 200;

  private final Stages stages;
  private final long total;
  private final ProgressBar bar;
  private final AtomicLong steps = new AtomicLong();

  /** @param terminal whether the output can rewrite a line */
  LoadProgress(Stages stages, long total, boolean terminal) {
    this.stages = stages;
    this.total = total;
    this.bar = terminal
      ? new ProgressBarBuilder().setTaskName("          load").setInitialMax(total)
        .setUnit(" rows", 1).setStyle(ProgressBarStyle.ASCII).setUpdateIntervalMillis(UPDATE_MILLIS)
        .setConsumer(new ConsoleProgressBarConsumer(stages.stream(), BAR_WIDTH))
        .clearDisplayOnFinish().build()
      : null;
  }

  void step() {
    if (bar != null) {
      bar.step();
      return;
    }
    long done = steps.incrementAndGet();
    long tenth = done * 10 / total;
    if (tenth > (done - 1) * 10 / total && tenth < 10) {
      stages.done("load: %s of %s rows", count(done), count(total));
    }
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
