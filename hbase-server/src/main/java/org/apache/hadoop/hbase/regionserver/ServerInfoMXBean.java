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
package org.apache.hadoop.hbase.regionserver;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Which HBase a server runs, as JMX shows it: <code>Hadoop:service=HBase,name=Info</code>. What a
 * folder holds says nothing about a process that was started before the folder changed; this does.
 */
@InterfaceAudience.Private
public interface ServerInfoMXBean {

  /** Returns the version that hbase-common says, which is that of the whole. */
  String getVersion();

  /** Returns the commit of upstream that it is derived from. */
  String getRevision();

  /** Returns the jar or folder that the classes of hbase-common come from. */
  String getCommonJar();

  /** Returns the jar or folder that the classes of hbase-client come from. */
  String getClientJar();

  /** Returns the jar or folder that the classes of hbase-server come from. */
  String getServerJar();

  /**
   * Returns the version that the jar of hbase-common had in its manifest when the server started
   * and, after a blank, the checksum of the sources that it was built from; empty if it is no jar.
   */
  String getCommonBuild();

  /** Returns the same of hbase-client. */
  String getClientBuild();

  /** Returns the same of hbase-server. */
  String getServerBuild();
}
