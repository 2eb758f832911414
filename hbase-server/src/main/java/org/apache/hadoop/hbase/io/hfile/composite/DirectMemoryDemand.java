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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Sum of the direct memory that a server's settings require, by component, and its comparison with
 * the limit of the process. Not thread-safe.
 */
@InterfaceAudience.Private
public final class DirectMemoryDemand {
  private static final long MB = 1 << 20;

  private final List<String> required = new ArrayList<>();
  private final List<String> all = new ArrayList<>();
  private String firstKey;
  private Object firstValue;
  private long bytesRequired;
  private long bytes;

  /**
   * Adds a component that a key determines.
   * @param bytes the component's maximum, 0 or more; a component with 0 is left out
   */
  public void add(String key, Object value, long bytes) {
    if (firstKey == null) {
      firstKey = key;
      firstValue = value;
    }
    add(key + "=" + value, bytes);
  }

  /**
   * Adds a component.
   * @param what  its name, with key and value if it has them
   * @param bytes its maximum, 0 or more; a component with 0 is left out
   */
  public void add(String what, long bytes) {
    if (bytes > 0) {
      required.add(part(what, bytes));
      bytesRequired += bytes;
      addReserve(what, bytes);
    }
  }

  /**
   * Adds memory that a component leaves to others. A server starts without it.
   * @param bytes 0 or more
   */
  public void addReserve(String what, long bytes) {
    if (bytes > 0) {
      all.add(part(what, bytes));
      this.bytes += bytes;
    }
  }

  private static String part(String what, long bytes) {
    return what + " (" + mb(bytes) + " MB)";
  }

  /** Returns MB, rounded up. */
  private static long mb(long bytes) {
    return (bytes + MB - 1) / MB;
  }

  /**
   * Checks that all components without the reserves are within the limit.
   * @param limit direct memory of the process, in bytes
   * @throws IllegalArgumentException if they are not; its message has the first key, and all
   *                                  components
   */
  void check(long limit) {
    if (bytesRequired > limit) {
      throw SettingsReader.rejected(firstKey, firstValue,
        "within the " + limit / MB + " MB of direct memory of this process, and "
          + String.join(" + ", required) + " make " + mb(bytesRequired) + " MB",
        "Lower one of them, or raise -XX:MaxDirectMemorySize to " + mb(bytesRequired)
          + "m or more");
    }
  }

  /**
   * Returns the sentence that warns if the sum with all reserves exceeds the limit.
   * @param limit direct memory of the process, in bytes
   * @return null if it does not
   */
  String warning(long limit) {
    return bytes <= limit
      ? null
      : String.join(" + ", all) + " may come to " + mb(bytes) + " MB, which exceeds the "
        + limit / MB + " MB of direct memory of this process; raise -XX:MaxDirectMemorySize to "
        + mb(bytes) + "m or more, or lower one of them.";
  }
}
