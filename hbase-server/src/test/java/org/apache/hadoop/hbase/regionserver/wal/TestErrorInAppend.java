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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.MultiVersionConcurrencyControl;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.hadoop.hbase.wal.WALStreamReader;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** An append of FSHLog that ends with an Error, such as a lack of memory. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestErrorInAppend {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestErrorInAppend.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final RegionInfo REGION =
    RegionInfoBuilder.newBuilder(TableName.valueOf("table")).build();

  private static volatile Error failure;

  /** The writer of FSHLog whose appends may fail. */
  public static final class FailingWriter extends ProtobufLogWriter {
    @Override
    public void append(WAL.Entry entry) throws IOException {
      if (failure != null) {
        throw failure;
      }
      super.append(entry);
    }
  }

  private final MultiVersionConcurrencyControl mvcc = new MultiVersionConcurrencyControl();

  @After
  public void cleanUp() {
    failure = null;
    UTIL.cleanupTestDir();
  }

  private void write(FSHLog wal, String row) throws IOException {
    WALKeyImpl key = new WALKeyImpl(REGION.getEncodedNameAsBytes(), REGION.getTable(), 1, mvcc);
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(Bytes.toBytes(row), FAMILY, FAMILY, FAMILY));
    long txid = wal.appendData(REGION, key, edit);
    mvcc.complete(key.getWriteEntry());
    wal.sync(txid);
  }

  private String rows(FileSystem fs, Path file) throws IOException {
    StringBuilder rows = new StringBuilder();
    try (WALStreamReader reader =
      WALFactory.createStreamReader(fs, file, UTIL.getConfiguration())) {
      for (WAL.Entry entry = reader.next(); entry != null; entry = reader.next()) {
        rows.append(Bytes.toString(entry.getEdit().getCells().get(0).getRowArray(),
          entry.getEdit().getCells().get(0).getRowOffset(),
          entry.getEdit().getCells().get(0).getRowLength()));
      }
    }
    return rows.toString();
  }

  @Test
  public void testSyncFailsIfTheAppendBeforeItHasFailed() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(CommonFSUtils.UNSAFE_STREAM_CAPABILITY_ENFORCE, false);
    conf.setClass(FSHLogProvider.WRITER_IMPL, FailingWriter.class, FSHLogProvider.Writer.class);
    Path root = UTIL.getDataTestDir();
    FileSystem fs = root.getFileSystem(conf);
    FSHLog wal = new FSHLog(fs, root, "logs", conf);
    Path first;
    Path second;
    try {
      wal.init();
      first = wal.getCurrentFileName();
      write(wal, "a");
      failure = new OutOfMemoryError("Direct buffer memory");
      assertThrows(IOException.class, () -> write(wal, "b"));
      failure = null;
      assertThrows("No write behind it is appended until the WAL rolls", IOException.class,
        () -> write(wal, "c"));
      wal.rollWriter(true);
      second = wal.getCurrentFileName();
      write(wal, "d");
    } finally {
      wal.close();
    }
    assertEquals("a", rows(fs, first));
    assertEquals("d", rows(fs, second));
  }
}
