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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.UserPermission;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * A user who may read the checked table only while that is granted. To be used by one thread.
 */
final class VisitorReads implements Closeable {
  private static final String VISITOR = "visitor";
  private static final String CONTROLLER =
    "org.apache.hadoop.hbase.security.access.AccessController";
  private static final int ROWS_OF_A_REGION = 3;
  private static final int ROUNDS = 5;

  private final Cluster cluster;
  private final Connection owner;
  private final Connection visitor;

  VisitorReads(Cluster cluster) throws IOException {
    this.cluster = cluster;
    Configuration conf = cluster.conf();
    owner = ConnectionFactory.createConnection(conf);
    visitor = ConnectionFactory.createConnection(conf,
      User.create(UserGroupInformation.createRemoteUser(VISITOR)));
  }

  /** Has all servers check permissions. To be called before they are started. */
  static void enable(Cluster cluster) {
    cluster.setForAll("hbase.security.authorization", "true");
    for (String part : new String[] { "master", "region", "regionserver" }) {
      cluster.setForAll("hbase.coprocessor." + part + ".classes", CONTROLLER);
    }
  }

  /**
   * Lets the visitor read rows of each region, and takes that away. A server hears of it some time
   * later; once all have, the visitor may not get a row, also not one that is cached.
   * @throws AssertionError if the visitor gets one
   */
  void grantAndRevoke() throws Exception {
    List<byte[]> rows = rows();
    UserPermission permission = new UserPermission(VISITOR,
      Permission.newBuilder(CheckedLoad.TABLE).withActions(Permission.Action.READ).build());
    Admin admin = cluster.admin();
    admin.grant(permission, false);
    Cluster.await("a visitor may read", () -> denied(rows) == 0);
    readByOwner(rows);
    admin.revoke(permission);
    Cluster.await("a visitor may not read any more", () -> denied(rows) == rows.size());
    for (int i = 0; i < ROUNDS; i++) {
      readByOwner(rows);
      int denied = denied(rows);
      if (denied < rows.size()) {
        throw new AssertionError(
          "A visitor could read " + (rows.size() - denied) + " of " + rows.size() + " rows");
      }
    }
    cluster.say("a visitor could read %d rows, and then no more", rows.size());
  }

  private List<byte[]> rows() throws IOException {
    List<byte[]> rows = new ArrayList<>();
    for (RegionInfo region : cluster.admin().getRegions(CheckedLoad.TABLE)) {
      Scan scan = new Scan().withStartRow(region.getStartKey()).withStopRow(region.getEndKey())
        .setLimit(ROWS_OF_A_REGION);
      try (Table table = owner.getTable(CheckedLoad.TABLE);
        ResultScanner results = table.getScanner(scan)) {
        for (Result result : results) {
          rows.add(result.getRow());
        }
      }
    }
    return rows;
  }

  /** Has the rows cached. */
  private void readByOwner(List<byte[]> rows) throws IOException {
    try (Table table = owner.getTable(CheckedLoad.TABLE)) {
      for (byte[] row : rows) {
        table.get(new Get(row));
      }
    }
  }

  /** Returns how many of the rows the visitor is denied. */
  private int denied(List<byte[]> rows) throws IOException {
    int denied = 0;
    try (Table table = visitor.getTable(CheckedLoad.TABLE)) {
      for (byte[] row : rows) {
        try {
          table.get(new Get(row));
        } catch (AccessDeniedException e) {
          denied++;
        }
      }
    }
    return denied;
  }

  @Override
  public void close() throws IOException {
    visitor.close();
    owner.close();
  }
}
