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

import java.io.File;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the files of tiers with the file systems that they are on. The file of a bucket cache is
 * sparse: the cache fails when the file system is full, long after the start. Not thread-safe.
 */
@InterfaceAudience.Private
final class DiskSpaceDemand {
  private static final Logger LOG = LoggerFactory.getLogger(DiskSpaceDemand.class);
  private static final long MB = 1 << 20;

  /** Bytes of all tiers on a file system. */
  private static final class Use {
    long wanted;
    /** Bytes that existing files of the tiers have already, holes included. */
    long present;
  }

  private final Map<FileStore, Use> uses = new HashMap<>();
  private final List<String> warnings = new ArrayList<>();

  private DiskSpaceDemand() {
  }

  /**
   * Checks the tiers, in this order.
   * @return one sentence for each tier that does not fit into the free space, and for each that is
   *         larger than its file system but is not a bucket cache, whose device is bypassed
   * @throws IllegalArgumentException if a bucket cache is larger than its file system; its message
   *                                  is for the operator
   */
  static List<String> check(SettingsReader reader, TierSettings... tiers) {
    DiskSpaceDemand demand = new DiskSpaceDemand();
    for (TierSettings tier : tiers) {
      String value = reader.text(tier.sizeKey());
      Map<FileStore, File> folders = new HashMap<>();
      List<File> files = tier.files();
      for (File file : files) {
        try {
          demand.add(file, tier.getCapacity() / files.size(), folders);
        } catch (IOException e) {
          LOG.debug("The size of the file system of {} is unknown", file, e);
        }
      }
      for (Map.Entry<FileStore, File> store : folders.entrySet()) {
        try {
          demand.check(tier, value, store.getKey(), store.getValue());
        } catch (IOException e) {
          LOG.debug("The size of the file system of {} is unknown", store.getValue(), e);
        }
      }
    }
    return demand.warnings;
  }

  private void add(File file, long size, Map<FileStore, File> folders) throws IOException {
    if (file.exists() && !file.isFile()) {
      // A block device has a fixed size.
      return;
    }
    File folder = file.getAbsoluteFile().getParentFile();
    FileStore store = Files.getFileStore((file.exists() ? file : folder).toPath());
    folders.putIfAbsent(store, folder);
    Use use = uses.computeIfAbsent(store, any -> new Use());
    use.wanted += size;
    use.present += Math.min(size, file.length());
  }

  private void check(TierSettings tier, String value, FileStore store, File folder)
    throws IOException {
    Use use = uses.get(store);
    long total = store.getTotalSpace();
    long free = store.getUsableSpace();
    if (total <= 0) {
      // Some file systems have no limit of their own.
      return;
    }
    String remedy = "Lower it, or set a path on a larger file system";
    if (use.wanted > total && tier.getDeviceTier() == null) {
      throw SettingsReader.rejected(tier.sizeKey(), value,
        "within the " + total / MB + " MB of the file system of " + folder
          + ", where the tiers take " + use.wanted / MB + " MB",
        remedy);
    }
    if (use.wanted - use.present > free) {
      warnings.add(tier.sizeKey() + " is " + value + "; the tiers take " + use.wanted / MB
        + " MB in " + folder + ", whose file system has " + free / MB + " of " + total / MB
        + " MB free. " + remedy + ".");
    }
  }
}
