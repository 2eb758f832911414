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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The pages of an {@link IndexPartition} in a snapshot: as they are in memory, followed by a CRC32.
 * The caller holds the lock of the partition.
 */
@InterfaceAudience.Private
final class IndexPages {
  private static final int BYTES_BASE = HBasePlatformDependent.arrayBaseOffset(byte[].class);
  /** Maximum pages to allocate before the first is read: the number of pages is untrusted. */
  private static final int INITIAL_PAGES = 16;

  private IndexPages() {
  }

  /**
   * @param pages their addresses
   */
  static void write(DataOutput out, long[] pages) throws IOException {
    CRC32 sum = new CRC32();
    byte[] page = new byte[PagePool.PAGE_BYTES];
    for (long address : pages) {
      for (int i = 0; i < page.length; i += Long.BYTES) {
        HBasePlatformDependent.putLong(page, BYTES_BASE + i,
          HBasePlatformDependent.getLong(address + i));
      }
      sum.update(page, 0, page.length);
      out.write(page);
    }
    out.writeInt((int) sum.getValue());
  }

  /**
   * Reads the output of {@link #write} into pages of a pool.
   * @param pageCount the number of pages; at least 0
   * @param keyCount  the number of keys that they must contain
   * @return the addresses of the pages
   * @throws IOException if the input is invalid or the pool has no memory; no page is taken then
   */
  static long[] read(DataInput in, PagePool pool, int pageCount, int keyCount)
    throws IOException {
    CRC32 sum = new CRC32();
    byte[] page = new byte[PagePool.PAGE_BYTES];
    // The array grows page by page: an untrusted length must not allocate all memory.
    long[] pages = new long[Math.min(pageCount, INITIAL_PAGES)];
    int filled = 0;
    boolean whole = false;
    try {
      int keys = 0;
      while (filled < pageCount) {
        in.readFully(page);
        long[] taken = pool.take(1);
        if (taken == null) {
          throw new IOException("No direct memory for an index of " + pageCount + " pages");
        }
        if (filled == pages.length) {
          pages = Arrays.copyOf(pages, Math.min(pageCount, 2 * filled));
        }
        pages[filled++] = taken[0];
        sum.update(page, 0, page.length);
        keys += copy(page, taken[0]);
      }
      if (in.readInt() != (int) sum.getValue() || keys != keyCount) {
        throw new IOException("Checksum mismatch in an index partition");
      }
      whole = true;
      return pages;
    } finally {
      if (!whole) {
        pool.give(Arrays.copyOf(pages, filled));
      }
    }
  }

  /** Copies a page to an address. Returns the number of keys in it. */
  private static int copy(byte[] page, long address) {
    int keys = 0;
    for (int i = 0; i < page.length; i += Long.BYTES) {
      long word = HBasePlatformDependent.getLong(page, BYTES_BASE + i);
      HBasePlatformDependent.putLong(address + i, word);
      boolean isKey = i % IndexPartition.BUCKET_BYTES < IndexPartition.LOCATIONS;
      keys += word != IndexPartition.EMPTY && isKey ? 1 : 0;
    }
    return keys;
  }
}
