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
package org.apache.hadoop.hbase.replication.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.lang.reflect.Field;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Server;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.testclassification.ReplicationTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * An entry of a serial peer is pushed only after a check that succeeded: an error of the check,
 * such as a meta table that cannot be read, is no permission.
 */
@Category({ ReplicationTests.class, SmallTests.class })
public class TestSerialReplicationOrder {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSerialReplicationOrder.class);

  private final SerialReplicationChecker checker = mock(SerialReplicationChecker.class);
  private final WALEntryStream stream = mock(WALEntryStream.class);
  private final WALEntryBatch batch = new WALEntryBatch(10, new Path("wal"));
  private final WAL.Entry entry = entry();
  private SerialReplicationSourceWALReader reader;

  @Before
  public void setUp() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setLong("replication.source.sleepforretries", 1);
    ReplicationSource source = mock(ReplicationSource.class);
    when(source.getSourceManager()).thenReturn(mock(ReplicationSourceManager.class));
    when(source.getServer()).thenReturn(mock(Server.class));
    reader = new SerialReplicationSourceWALReader(null, conf, null, 0, e -> e, source, "group");
    Field field = SerialReplicationSourceWALReader.class.getDeclaredField("checker");
    field.setAccessible(true);
    field.set(reader, checker);
    when(stream.getCurrentPath()).thenReturn(new Path("wal"));
    when(stream.peek()).thenReturn(entry);
    when(stream.hasNext()).thenReturn(WALEntryStream.HasNext.RETRY);
  }

  @Test
  public void testEntryIsNotPushedUnchecked() throws Exception {
    when(checker.canPush(any(), any())).thenThrow(new IOException("meta cannot be read"))
      .thenReturn(false);
    InterruptedException waits = new InterruptedException("waits for the previous range");
    doThrow(waits).when(checker).waitUntilCanPush(any(), any());
    assertSame("the entry is checked again, and has to wait", waits,
      assertThrows(InterruptedException.class, () -> reader.readWALEntries(stream, batch)));
    assertEquals(0, batch.getNbEntries());
    assertEquals("no sequence id is recorded as pushed", 0, batch.getLastSeqIds().size());
  }

  @Test
  public void testEntryIsPushedAfterTheCheck() throws Exception {
    when(checker.canPush(any(), any())).thenThrow(new IOException("meta cannot be read"))
      .thenThrow(new IOException("meta cannot be read")).thenReturn(true);
    reader.readWALEntries(stream, batch);
    verify(checker, times(3)).canPush(any(), any());
    assertEquals(1, batch.getNbEntries());
    assertSame(entry, batch.getWalEntries().get(0));
  }

  @Test
  public void testStoppedReaderGivesUp() throws Exception {
    when(checker.canPush(any(), any())).thenAnswer(call -> {
      reader.setReaderRunning(false);
      throw new IOException("meta cannot be read");
    });
    reader.readWALEntries(stream, batch);
    assertEquals(0, batch.getNbEntries());
  }

  private static WAL.Entry entry() {
    WALKeyImpl key =
      new WALKeyImpl(Bytes.toBytes("region"), TableName.valueOf("serial"), 7, 0, null);
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(Bytes.toBytes("row"), Bytes.toBytes("f"), Bytes.toBytes("c"), 1,
      Bytes.toBytes("v")));
    return new WAL.Entry(key, edit);
  }
}
