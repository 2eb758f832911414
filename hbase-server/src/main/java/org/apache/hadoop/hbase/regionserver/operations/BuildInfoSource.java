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
package org.apache.hadoop.hbase.regionserver.operations;

import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.Interns;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The version of this process as a metric: the gauge <code>build_info</code> at /prometheus, always
 * 1, with version and upstream commit as its labels. /prometheus serves numbers only, and so none
 * of the attributes of {@link ServerInfoMXBean}. The servlet does not escape labels; both values
 * are fixed by the build and hold neither quotes nor backslashes. Immutable.
 */
@InterfaceAudience.Private
final class BuildInfoSource implements MetricsSource {
  private static final Logger LOG = LoggerFactory.getLogger(BuildInfoSource.class);

  /** Name of the source, in JMX, and of its record. The servlet joins record and metric. */
  static final String RECORD = "Build";
  static final String METRIC = "Info";
  private static final String DESCRIPTION = "The version of this process, as tags";
  private static final MetricsInfo INFO = Interns.info(METRIC, DESCRIPTION);
  private static final MetricsInfo VERSION = Interns.info("version", "Version of hbase-common");
  private static final MetricsInfo REVISION =
    Interns.info("revision", "Upstream commit from which it is derived");

  /**
   * Adds the source to the metrics system of this process. To be called once per process. A failure
   * is logged: a server starts without the metric.
   */
  static void register() {
    try {
      DefaultMetricsSystem.instance().register(RECORD, DESCRIPTION, new BuildInfoSource());
    } catch (RuntimeException e) {
      LOG.warn("Cannot register the version as a metric", e);
    }
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    collector.addRecord(RECORD).setContext("hbase").tag(VERSION, VersionInfo.getVersion())
      .tag(REVISION, VersionInfo.getRevision()).addGauge(INFO, 1);
  }
}
