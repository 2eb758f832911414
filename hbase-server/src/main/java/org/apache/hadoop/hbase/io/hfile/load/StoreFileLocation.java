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
package org.apache.hadoop.hbase.io.hfile.load;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.yetus.audience.InterfaceAudience;

/** The table, region and column family of a store file, by its path. */
@InterfaceAudience.Private
final class StoreFileLocation {

  private StoreFileLocation() {
  }

  /** Returns the name of the table as in its directory, with a namespace other than default. */
  static String table(Path file) {
    String name = folder(file, 3);
    String namespace = folder(file, 4);
    return namespace.isEmpty() || namespace.equals(NamespaceDescriptor.DEFAULT_NAMESPACE_NAME_STR)
      ? name
      : namespace + TableName.NAMESPACE_DELIM + name;
  }

  /** Returns the encoded name of the region. */
  static String region(Path file) {
    return folder(file, 2);
  }

  static String family(Path file) {
    return folder(file, 1);
  }

  private static String folder(Path file, int above) {
    Path folder = file;
    for (int i = 0; i < above && folder != null; i++) {
      folder = folder.getParent();
    }
    return folder == null ? "" : folder.getName();
  }
}
