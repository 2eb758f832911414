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
package dev.stratum.bench.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's core workload with multigets, increments and other operations of HBase. Properties beside
 * YCSB's:
 * <ul>
 * <li><code>multigetproportion</code>, and <code>multiget.rows</code> of each (50);</li>
 * <li><code>incrementproportion</code>; with <code>counter=true</code> a read-modify-write is one
 * of a counter, too, to be compared with an increment;</li>
 * <li><code>checkandmutateproportion</code>, of which each check succeeds;</li>
 * <li><code>latestdeleteproportion</code>: batches of puts with a delete of a newest version;</li>
 * <li><code>batch</code>: an insert operation is that many inserts, an update operation that many
 * puts of rows that are there, and such a batch has that many mutations (1).</li>
 * </ul>
 * May be used by several threads, each with a {@link HBaseBinding} of its own.
 */
final class ExtendedCoreWorkload extends CoreWorkload {
  private static final String MULTIGET = "MULTIGET";
  private static final String INCREMENT = "INCREMENT";
  private static final String CHECK_AND_MUTATE = "CHECK-AND-MUTATE";
  private static final String LATEST_DELETE = "LATEST-DELETE";

  private int multigetRows;
  private int batch;
  private boolean counter;

  /** @throws WorkloadException if a property is missing or cannot be understood */
  static ExtendedCoreWorkload create(Properties properties) throws WorkloadException {
    // The core workload looks for them in its constructor.
    Measurements.setProperties(properties);
    ExtendedCoreWorkload workload = new ExtendedCoreWorkload();
    workload.init(properties);
    return workload;
  }

  private ExtendedCoreWorkload() {
  }

  @Override
  public void init(Properties properties) throws WorkloadException {
    super.init(properties);
    multigetRows = Integer.parseInt(properties.getProperty("multiget.rows", "50"));
    batch = Integer.parseInt(properties.getProperty("batch", "1"));
    counter = Boolean.parseBoolean(properties.getProperty("counter"));
    add(properties, "multigetproportion", MULTIGET);
    add(properties, "incrementproportion", INCREMENT);
    add(properties, "checkandmutateproportion", CHECK_AND_MUTATE);
    add(properties, "latestdeleteproportion", LATEST_DELETE);
  }

  private void add(Properties properties, String proportion, String operation) {
    double weight = Double.parseDouble(properties.getProperty(proportion, "0"));
    if (weight > 0) {
      operationchooser.addValue(weight, operation);
    }
  }

  /** Returns what the next operation is to be, in YCSB's words. */
  String choose() {
    return operationchooser.nextString();
  }

  /** Does one operation of a kind. */
  void perform(String operation, HBaseBinding binding) {
    switch (operation) {
      case "READ":
        doTransactionRead(binding);
        break;
      case "UPDATE":
        if (batch > 1) {
          binding.put(nextKeys(batch));
        } else {
          doTransactionUpdate(binding);
        }
        break;
      case "INSERT":
        for (int i = 0; i < batch; i++) {
          doTransactionInsert(binding);
        }
        break;
      case "SCAN":
        doTransactionScan(binding);
        break;
      case MULTIGET:
        binding.multiget(nextKeys(multigetRows));
        break;
      case INCREMENT:
        binding.increment(nextKey());
        break;
      case CHECK_AND_MUTATE:
        binding.checkAndMutate(nextKey());
        break;
      case LATEST_DELETE:
        binding.deleteLatest(nextKeys(batch));
        break;
      default:
        if (counter) {
          binding.readModifyWriteCounter(nextKey());
        } else {
          doTransactionReadModifyWrite(binding);
        }
    }
  }

  @Override
  public boolean doTransaction(DB db, Object threadState) {
    perform(choose(), (HBaseBinding) db);
    return true;
  }

  private List<String> nextKeys(int count) {
    List<String> keys = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      keys.add(nextKey());
    }
    return keys;
  }

  private String nextKey() {
    long number;
    do {
      number = keychooser.nextValue().longValue();
    } while (number > transactioninsertkeysequence.lastValue());
    return buildKeyName(number);
  }

  /** Returns how many records there are, if the workload began with <code>recordcount</code>. */
  long records() {
    return transactioninsertkeysequence.lastValue() + 1;
  }
}
