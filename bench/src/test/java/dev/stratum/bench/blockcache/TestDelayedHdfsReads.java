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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.harness.RegionOnHdfs;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestDelayedHdfsReads {
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 300;
  private static final int MICROS = 3000;

  private RegionOnHdfs region;

  @Before
  public void fill() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0);
    DelayedHdfsReads.install();
    region = new RegionOnHdfs(conf, "asyncfs");
    for (int i = 0; i < ROWS; i++) {
      region.region()
        .put(new Put(Bytes.toBytes(i)).addColumn(RegionOnHdfs.FAMILY, QUALIFIER, new byte[1000]));
    }
    region.region().flush(true);
  }

  @After
  public void close() throws Exception {
    DelayedHdfsReads.delay(0);
    region.close();
  }

  private long nanosOfGets() throws Exception {
    long start = System.nanoTime();
    for (int i = 0; i < ROWS; i++) {
      assertEquals(1, region.region().get(new Get(Bytes.toBytes(i))).size());
    }
    return System.nanoTime() - start;
  }

  @Test
  public void testEachReadOfABlockWaits() throws Exception {
    long before = DelayedHdfsReads.count();
    nanosOfGets();
    assertEquals("not until they are told to", before, DelayedHdfsReads.count());
    DelayedHdfsReads.delay(MICROS);
    long nanos = nanosOfGets();
    long waits = DelayedHdfsReads.count() - before;
    assertTrue("one or more for each get: " + waits, waits >= ROWS);
    assertTrue(waits + " waits in " + nanos + " ns", nanos >= 1000L * MICROS * waits);
    DelayedHdfsReads.delay(0);
    nanosOfGets();
    assertEquals("not any more", before + waits, DelayedHdfsReads.count());
  }
}
