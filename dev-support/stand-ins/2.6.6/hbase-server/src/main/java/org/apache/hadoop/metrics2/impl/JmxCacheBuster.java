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
package org.apache.hadoop.metrics2.impl;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Takes the place of a class of hbase-hadoop2-compat 2.6.6, which is not in Maven's repositories.
 * That of 2.6.4 fails when HBaseTestingUtility of 2.6.6 stops it before its first use. This one
 * leaves Hadoop's cache of JMX attributes as it is, which matters only to tests that unregister
 * metrics and read JMX afterwards.
 */
@InterfaceAudience.Private
public final class JmxCacheBuster {

  private JmxCacheBuster() {
  }

  public static void clearJmxCache() {
    // The cache expires on its own.
  }

  public static void stop() {
    // Nothing is under way.
  }

  public static void restart() {
    // Nothing was stopped.
  }
}
