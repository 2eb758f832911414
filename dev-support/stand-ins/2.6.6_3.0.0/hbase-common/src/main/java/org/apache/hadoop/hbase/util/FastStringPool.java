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
package org.apache.hadoop.hbase.util;

import java.util.concurrent.ConcurrentHashMap;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Takes the place of a class of hbase-common 2.6.6 and 3.0.0 of which only the jar is missing in Maven's
 * repositories, so that tests of patches can be run with those of hbase-server. Equal strings become
 * one, as of the class that it stands in for, but are kept for good.
 */
@InterfaceAudience.Private
public class FastStringPool {
  private final ConcurrentHashMap<String, String> strings = new ConcurrentHashMap<>();

  public String intern(String string) {
    String known = strings.putIfAbsent(string, string);
    return known == null ? string : known;
  }
}
