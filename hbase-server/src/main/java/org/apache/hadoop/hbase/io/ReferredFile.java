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
package org.apache.hadoop.hbase.io;

import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The file that a reference file reads. After a split or merge, a region reads its parents' files
 * through references; their blocks are cached under the name of the referred file.
 */
@InterfaceAudience.Private
public final class ReferredFile {

  private ReferredFile() {
  }

  /**
   * Returns the name of the referred file, which may be an HFileLink.
   * @param hfileName name of a store file
   * @return null if the name is not that of a reference
   */
  public static String of(String hfileName) {
    // A check of the name avoids the regular expression for nearly all files.
    return hfileName.indexOf('.') < 0 || !StoreFileInfo.isReference(hfileName)
      ? null
      : StoreFileInfo.getReferredToRegionAndFile(hfileName).getSecond();
  }
}
