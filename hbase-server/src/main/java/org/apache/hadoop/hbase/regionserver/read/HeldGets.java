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
package org.apache.hadoop.hbase.regionserver.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the cells of the gets of one multi until its response is encoded. Gets may be added by
 * several threads.
 */
@InterfaceAudience.Private
public final class HeldGets implements RpcCallback {
  private static final Logger LOG = LoggerFactory.getLogger(HeldGets.class);

  private final List<Closeable> gets = new ArrayList<>();

  public synchronized void add(Closeable get) {
    gets.add(get);
  }

  /** Closes all, whatever one of them throws. */
  @Override
  public synchronized void run() {
    for (Closeable get : gets) {
      try {
        get.close();
      } catch (IOException | RuntimeException e) {
        LOG.error("Exception while closing {}", get, e);
      }
    }
  }
}
