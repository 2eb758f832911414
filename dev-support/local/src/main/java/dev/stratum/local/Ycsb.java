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
package dev.stratum.local;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/**
 * YCSB's core workload with its standard record: 10 fields of 100 bytes, hashed keys, zipfian
 * requests. Its keys, values and request sequence are what YCSB itself would send; only the
 * binding to HBase is ours.
 */
final class Ycsb {
  static final int FIELDS = 10;
  static final int FIELD_BYTES = 100;

  private Ycsb() {
  }

  /** A workload whose {@code doInsert} makes the records {@code from} to {@code to} - 1. */
  static CoreWorkload inserts(int from, int to) throws WorkloadException {
    Properties properties = properties(to);
    properties.setProperty("insertstart", Integer.toString(from));
    properties.setProperty("insertcount", Integer.toString(to - from));
    return workload(properties);
  }

  /** A workload whose {@code doTransaction} reads one of the first {@code rows} records. */
  static CoreWorkload reads(int rows) throws WorkloadException {
    Properties properties = properties(rows);
    properties.setProperty(CoreWorkload.REQUEST_DISTRIBUTION_PROPERTY, "zipfian");
    properties.setProperty(CoreWorkload.READ_PROPORTION_PROPERTY, "1");
    properties.setProperty(CoreWorkload.UPDATE_PROPORTION_PROPERTY, "0");
    // Only says how many inserts to expect, of which there are none.
    properties.setProperty("operationcount", "1");
    return workload(properties);
  }

  private static Properties properties(int records) {
    Properties properties = new Properties();
    properties.setProperty("recordcount", Integer.toString(records));
    properties.setProperty(CoreWorkload.FIELD_COUNT_PROPERTY, Integer.toString(FIELDS));
    properties.setProperty(CoreWorkload.FIELD_LENGTH_PROPERTY, Integer.toString(FIELD_BYTES));
    return properties;
  }

  private static CoreWorkload workload(Properties properties) throws WorkloadException {
    Measurements.setProperties(properties);
    CoreWorkload workload = new CoreWorkload();
    workload.init(properties);
    return workload;
  }

  /** A binding of which the operations that this program does not need end in an error. */
  abstract static class Binding extends DB {
    @Override
    public Status read(String table, String key, Set<String> fields,
      Map<String, ByteIterator> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status scan(String table, String startKey, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status delete(String table, String key) {
      return Status.NOT_IMPLEMENTED;
    }
  }
}
