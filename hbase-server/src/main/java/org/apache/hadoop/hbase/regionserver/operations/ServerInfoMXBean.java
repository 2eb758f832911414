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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * The versions that a server is running, in JMX: <code>Hadoop:service=HBase,name=Info</code>. The
 * files on disk do not show them, since they may have changed after the process was started.
 */
@InterfaceAudience.Private
public interface ServerInfoMXBean {

  /** Returns the version of hbase-common, which is that of the whole server. */
  String getVersion();

  /** Returns the upstream commit from which it is derived. */
  String getRevision();

  /** Returns the jar or directory from which the classes of hbase-common were loaded. */
  String getCommonJar();

  /** Returns the jar or directory from which the classes of hbase-client were loaded. */
  String getClientJar();

  /** Returns the jar or directory from which the classes of hbase-server were loaded. */
  String getServerJar();

  /**
   * Returns the version in the manifest of hbase-common's jar when the server started and, after a
   * space, the checksum of the sources from which it was built; empty if it is not a jar.
   */
  String getCommonBuild();

  /** Returns version and source checksum of hbase-client, as {@link #getCommonBuild} does. */
  String getClientBuild();

  /** Returns version and source checksum of hbase-server, as {@link #getCommonBuild} does. */
  String getServerBuild();
}
