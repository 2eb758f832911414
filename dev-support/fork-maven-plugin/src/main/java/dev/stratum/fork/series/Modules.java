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
package dev.stratum.fork.series;

import java.util.List;

/** The modules of the base that this fork builds, each in a folder of its name. */
public final class Modules {
  public static final List<String> ALL = List.of("hbase-common", "hbase-client", "hbase-server");
  public static final String JAVA = "src/main/java/";
  public static final String RESOURCES = "src/main/resources/";

  private Modules() {
  }

  /** Returns the first folder of a path such as {@code hbase-server/src/main/java/X.java}. */
  public static String of(String path) {
    int slash = path.indexOf('/');
    return slash < 0 ? path : path.substring(0, slash);
  }
}
