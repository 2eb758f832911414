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
package dev.stratum.processes;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;

/**
 * Changes the table of the load: another block size and another encoding, so that caches have
 * several of them, and an observer that is added or removed.
 */
final class Alteration {
  private static final List<Integer> BLOCK_SIZES = List.of(2048, 4096, 16384, 65536);

  private Alteration() {
  }

  static void apply(Admin admin, Random random) throws IOException {
    TableDescriptor old = admin.getDescriptor(CheckedLoad.TABLE);
    ColumnFamilyDescriptor family = old.getColumnFamily(CheckedLoad.FAMILY);
    TableDescriptorBuilder changed = TableDescriptorBuilder.newBuilder(old);
    changed.modifyColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(family)
      .setDataBlockEncoding(other(Arrays.asList(DataBlockEncoding.values()),
        family.getDataBlockEncoding(), random))
      .setBlocksize(other(BLOCK_SIZES, family.getBlocksize(), random)).build());
    if (old.hasCoprocessor(PassiveObserver.class.getName())) {
      changed.removeCoprocessor(PassiveObserver.class.getName());
    } else {
      changed.setCoprocessor(PassiveObserver.class.getName());
    }
    admin.modifyTable(changed.build());
  }

  /** Returns one of the values, but not the old one. */
  private static <T> T other(List<T> values, T old, Random random) {
    List<T> others =
      values.stream().filter(value -> !value.equals(old)).collect(Collectors.toList());
    return others.get(random.nextInt(others.size()));
  }
}
