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
package dev.stratum.childprocess;

import java.io.IOException;

/** Ends a child that reads no requests when its parent ends. */
public final class ParentWatch {
  private ParentWatch() {
  }

  /**
   * Runs an action on a thread of its own at the end of standard input, which is the end of the
   * parent, however the parent ends.
   * @param action such as an exit of the JVM
   */
  public static void atEnd(Runnable action) {
    Thread parent = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {
          continue;
        }
      } catch (IOException e) {
        // The parent has ended either way.
      }
      action.run();
    }, "parent");
    parent.setDaemon(true);
    parent.start();
  }
}
