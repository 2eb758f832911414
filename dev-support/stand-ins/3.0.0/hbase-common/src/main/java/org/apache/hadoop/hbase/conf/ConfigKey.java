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
package org.apache.hadoop.hbase.conf;

import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Takes the place of a class of hbase-common 3.0.0 of which only the jar is missing in Maven's
 * repositories, so that tests of patches can be run with hbase-server 3.0.0. It names the keys, and
 * validates no value.
 */
@InterfaceAudience.Private
public final class ConfigKey {
  private ConfigKey() {
  }

  @SafeVarargs
  public static String INT(String key, Predicate<Integer>... valid) {
    return key;
  }

  @SafeVarargs
  public static String LONG(String key, Predicate<Long>... valid) {
    return key;
  }

  @SafeVarargs
  public static String FLOAT(String key, Predicate<Float>... valid) {
    return key;
  }

  @SafeVarargs
  public static String DOUBLE(String key, Predicate<Double>... valid) {
    return key;
  }

  public static String BOOLEAN(String key) {
    return key;
  }

  public static <T> String CLASS(String key, Class<T> type) {
    return key;
  }

  public static void validate(Configuration conf) {
  }
}
