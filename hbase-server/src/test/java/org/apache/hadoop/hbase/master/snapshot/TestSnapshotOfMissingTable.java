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
package org.apache.hadoop.hbase.master.snapshot;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableDescriptors;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessor;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.MasterObserver;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.executor.ExecutorService;
import org.apache.hadoop.hbase.master.MasterCoprocessorHost;
import org.apache.hadoop.hbase.master.MasterFileSystem;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.master.procedure.MasterProcedureEnv;
import org.apache.hadoop.hbase.procedure.ProcedureCoordinator;
import org.apache.hadoop.hbase.procedure2.Procedure;
import org.apache.hadoop.hbase.procedure2.ProcedureExecutor;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.snapshot.SnapshotCreationException;
import org.apache.hadoop.hbase.testclassification.MasterTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.SnapshotProtos;

/** A snapshot of a table that does not exist, on a master with an observer. */
@Category({ MasterTests.class, SmallTests.class })
public class TestSnapshotOfMissingTable {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSnapshotOfMissingTable.class);

  private static final TableName TABLE = TableName.valueOf("table");
  private static final List<String> CALLS = new ArrayList<>();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final MasterServices master = mock(MasterServices.class);
  private final TableDescriptors tables = mock(TableDescriptors.class);
  @SuppressWarnings("unchecked")
  private final ProcedureExecutor<MasterProcedureEnv> procedures = mock(ProcedureExecutor.class);
  private SnapshotManager snapshots;

  /** Reads the descriptor of the table, as observers that check permissions do. */
  public static final class DescriptorReader implements MasterCoprocessor, MasterObserver {
    @Override
    public Optional<MasterObserver> getMasterObserver() {
      return Optional.of(this);
    }

    @Override
    public void preSnapshot(ObserverContext<MasterCoprocessorEnvironment> context,
      SnapshotDescription snapshot, TableDescriptor table) {
      CALLS.add("before " + table.getTableName());
    }

    @Override
    public void postSnapshot(ObserverContext<MasterCoprocessorEnvironment> context,
      SnapshotDescription snapshot, TableDescriptor table) {
      CALLS.add("after " + table.getTableName());
    }
  }

  @Before
  public void setUp() throws Exception {
    CALLS.clear();
    Configuration conf = util.getConfiguration();
    conf.setStrings(CoprocessorHost.MASTER_COPROCESSOR_CONF_KEY, DescriptorReader.class.getName());
    MasterFileSystem files = mock(MasterFileSystem.class);
    when(files.getFileSystem()).thenReturn(util.getTestFileSystem());
    when(files.getRootDir()).thenReturn(util.getDataTestDir());
    MasterProcedureEnv env = mock(MasterProcedureEnv.class);
    when(env.getRequestUser()).thenReturn(User.getCurrent());
    when(procedures.getEnvironment()).thenReturn(env);
    when(procedures.registerNonce(any())).thenReturn(-1L);
    when(procedures.submitProcedure(any(Procedure.class), any())).thenReturn(7L);
    when(master.getConfiguration()).thenReturn(conf);
    when(master.getMasterFileSystem()).thenReturn(files);
    when(master.getTableDescriptors()).thenReturn(tables);
    when(master.getMasterProcedureExecutor()).thenReturn(procedures);
    MasterCoprocessorHost observers = new MasterCoprocessorHost(master, conf);
    when(master.getMasterCoprocessorHost()).thenReturn(observers);
    snapshots = new SnapshotManager(master, mock(ProcedureCoordinator.class),
      mock(ExecutorService.class), Integer.MAX_VALUE);
    when(master.getSnapshotManager()).thenReturn(snapshots);
  }

  @After
  public void tearDown() throws IOException {
    snapshots.stop("end of the test");
    util.cleanupTestDir();
  }

  private long snapshot() throws IOException {
    return snapshots.takeSnapshot(SnapshotProtos.SnapshotDescription.newBuilder()
      .setName("snapshot").setTable(TABLE.getNameAsString()).build(), 1, 1);
  }

  @Test
  public void testClientIsToldThatTheTableDoesNotExist() {
    assertThrows(SnapshotCreationException.class, this::snapshot);
    assertEquals("observers are not asked", new ArrayList<>(), CALLS);
    verify(master, never()).abort(any(), any());
  }

  @Test
  public void testObserversHaveTheDescriptorOfATable() throws IOException {
    when(tables.get(TABLE)).thenReturn(TableDescriptorBuilder.newBuilder(TABLE).build());
    assertEquals(7, snapshot());
    assertEquals(Arrays.asList("before table", "after table"), CALLS);
    verify(master, never()).abort(any(), any());
  }
}
