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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.testclassification.ReplicationTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.hadoop.hbase.wal.WALProvider;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A reader whose WAL file was closed while it waited for more begins the next file at its start,
 * also if a filter that wants to see the entries again has it opened anew.
 */
@Category({ ReplicationTests.class, SmallTests.class })
public class TestSwitchedWalPosition {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSwitchedWalPosition.class);

  private static final String GROUP = "group";

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final AtomicBoolean firstIsWritten = new AtomicBoolean(true);
  private final AtomicBoolean filterRefuses = new AtomicBoolean();
  private FileSystem fs;
  private ReplicationSourceWALReader reader;
  private ReplicationSourceLogQueue queue;

  @Before
  public void setUp() throws IOException {
    conf.setLong("replication.source.sleepforretries", 1);
    conf.setInt("replication.source.maxretriesmultiplier", 1);
    fs = FileSystem.getLocal(conf);
    fs.mkdirs(util.getDataTestDir());
    Path first = new Path(util.getDataTestDir(), "server.1");
    write(first, 0, 2);
    ReplicationSourceManager manager = mock(ReplicationSourceManager.class);
    when(manager.checkBufferQuota(any())).thenReturn(true);
    ReplicationSource source = mock(ReplicationSource.class);
    when(source.getSourceManager()).thenReturn(manager);
    when(source.isPeerEnabled()).thenReturn(true);
    MetricsSource metrics = mock(MetricsSource.class);
    when(source.getSourceMetrics()).thenReturn(metrics);
    when(source.getWALFileLengthProvider()).thenReturn(path -> {
      boolean written = path.equals(first) && firstIsWritten.get();
      return written ? OptionalLong.of(Long.MAX_VALUE) : OptionalLong.empty();
    });
    queue = new ReplicationSourceLogQueue(conf, metrics, source);
    queue.enqueueLog(first, GROUP);
    reader = new ReplicationSourceWALReader(fs, conf, queue, 0, entry -> {
      if (filterRefuses.compareAndSet(true, false)) {
        throw new WALEntryFilterRetryableException("later");
      }
      return entry;
    }, source, GROUP);
    reader.setDaemon(true);
  }

  @After
  public void tearDown() throws Exception {
    reader.setReaderRunning(false);
    reader.interrupt();
    reader.join(TimeUnit.MINUTES.toMillis(1));
    assertFalse(reader.isAlive());
    util.cleanupTestDir();
  }

  @Test
  public void testNextFileIsReadFromItsStart() throws Exception {
    reader.start();
    assertEquals(Arrays.asList(0L, 1L), sequenceIds(next()));
    Path second = new Path(util.getDataTestDir(), "server.2");
    write(second, 2, 7);
    // The reader has read all of the first file, and waits for more.
    filterRefuses.set(true);
    queue.enqueueLog(second, GROUP);
    firstIsWritten.set(false);
    assertTrue("the end of the first file", next().isEndOfFile());
    assertEquals(Arrays.asList(2L, 3L, 4L, 5L, 6L), sequenceIds(next()));
    assertFalse("the filter was asked twice", filterRefuses.get());
  }

  private WALEntryBatch next() throws InterruptedException {
    WALEntryBatch batch = reader.poll(TimeUnit.MINUTES.toMillis(1));
    assertNotNull(batch);
    return batch;
  }

  private static List<Long> sequenceIds(WALEntryBatch batch) {
    List<Long> ids = new ArrayList<>();
    batch.getWalEntries().forEach(entry -> ids.add(entry.getKey().getSequenceId()));
    return ids;
  }

  private void write(Path path, long from, long to) throws IOException {
    try (WALProvider.Writer writer = WALFactory.createWALWriter(fs, path, conf)) {
      for (long id = from; id < to; id++) {
        WALKeyImpl key = new WALKeyImpl(Bytes.toBytes("region"), TableName.valueOf("table"), id, 1,
          HConstants.DEFAULT_CLUSTER_ID);
        WALEdit edit = new WALEdit();
        edit.add(new KeyValue(Bytes.toBytes("row"), Bytes.toBytes("f"), Bytes.toBytes("c"), 1,
          Bytes.toBytes("v")));
        writer.append(new WAL.Entry(key, edit));
      }
      writer.sync(false);
    }
  }
}
