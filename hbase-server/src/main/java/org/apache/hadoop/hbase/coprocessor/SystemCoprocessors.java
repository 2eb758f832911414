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
package org.apache.hadoop.hbase.coprocessor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The system coprocessors that a host was created with. A server reloads the {@link Configuration}
 * that its hosts were created from in place, so that it cannot tell afterwards what they have
 * loaded.
 * <p>
 * Written by the constructor of the host only; thread-safe after that.
 */
@InterfaceAudience.Private
public final class SystemCoprocessors {
  private final Map<String, List<String>> byKey = new HashMap<>();

  private static List<String> names(Configuration conf, String key) {
    return new ArrayList<>(conf.getTrimmedStringCollection(key));
  }

  /** Adds the coprocessors of a key, which the host loads now. */
  void add(Configuration conf, String key) {
    byKey.put(key, names(conf, key));
  }

  /**
   * Returns whether a configuration has other coprocessors, or the same ones in another order, for
   * one of these keys. Keys that the host does not load coprocessors of are ignored.
   */
  public boolean differ(Configuration conf, String... keys) {
    for (String key : keys) {
      List<String> loaded = byKey.get(key);
      if (loaded != null && !loaded.equals(names(conf, key))) {
        return true;
      }
    }
    return false;
  }
}
