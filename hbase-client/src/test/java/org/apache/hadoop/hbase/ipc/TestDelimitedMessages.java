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
package org.apache.hadoop.hbase.ipc;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.ClientTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ExceptionResponse;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ResponseHeader;

@Category({ ClientTests.class, SmallTests.class })
public class TestDelimitedMessages {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDelimitedMessages.class);

  private static final int ROUNDS = 5;
  private static final int CALLS = 20_000;

  private static ResponseHeader header(int size) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < size; i++) {
      text.append((char) ('a' + i % 26));
    }
    return ResponseHeader.newBuilder().setCallId(size)
      .setException(ExceptionResponse.newBuilder().setStackTrace(text.toString())).build();
  }

  private static byte[] delimited(ResponseHeader... headers) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (ResponseHeader header : headers) {
      header.writeDelimitedTo(out);
    }
    return out.toByteArray();
  }

  /** Gives one byte at a time, as a socket may. */
  private static InputStream trickling(byte[] bytes) {
    return new ByteArrayInputStream(bytes) {
      @Override
      public int read(byte[] into, int offset, int length) {
        return super.read(into, offset, Math.min(1, length));
      }
    };
  }

  @Test
  public void testMessagesOfAllSizesOneBehindTheOther() throws IOException {
    int max = DelimitedMessages.MAX_BUFFER;
    int[] sizes = { 0, 1, 100, 118, 119, 120, 121, 122, 1000, max - 20, max - 12, max - 11,
      max - 10, max - 9, max - 8, max, max + 1, 20_000, 300_000 };
    ResponseHeader[] headers = new ResponseHeader[sizes.length];
    for (int i = 0; i < sizes.length; i++) {
      headers[i] = header(sizes[i]);
    }
    for (InputStream in : new InputStream[] { new ByteArrayInputStream(delimited(headers)),
      trickling(delimited(headers)) }) {
      for (ResponseHeader header : headers) {
        assertEquals(header, DelimitedMessages.parse(ResponseHeader.newBuilder(), in));
      }
      assertEquals(-1, in.read());
    }
  }

  @Test
  public void testEmptyMessage() throws IOException {
    ResponseHeader empty = ResponseHeader.getDefaultInstance();
    InputStream in = new ByteArrayInputStream(delimited(empty, header(3)));
    assertEquals(empty, DelimitedMessages.parse(ResponseHeader.newBuilder(), in));
    assertEquals(header(3), DelimitedMessages.parse(ResponseHeader.newBuilder(), in));
  }

  @Test
  public void testEndOfStreamBeforeAMessage() throws IOException {
    InputStream in = new ByteArrayInputStream(new byte[0]);
    assertFalse(DelimitedMessages.merge(ResponseHeader.newBuilder(), in));
    assertThrows(EOFException.class,
      () -> DelimitedMessages.parse(ResponseHeader.newBuilder(), in));
  }

  @Test
  public void testEndOfStreamInAMessage() throws IOException {
    for (int size : new int[] { 10, 1000, DelimitedMessages.MAX_BUFFER - 20 }) {
      byte[] whole = delimited(header(size));
      for (int length : new int[] { 1, 5, whole.length / 2, whole.length - 1 }) {
        InputStream in = new ByteArrayInputStream(whole, 0, length);
        assertThrows(size + " " + length, IOException.class,
          () -> DelimitedMessages.merge(ResponseHeader.newBuilder(), in));
      }
    }
  }

  @Test
  public void testLengthThatIsNoneFails() {
    byte[] negative = { -1, -1, -1, -1, 0x0f, 1, 2, 3 };
    byte[] endless = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
    for (byte[] bytes : new byte[][] { negative, endless }) {
      assertThrows(IOException.class, () -> DelimitedMessages.merge(ResponseHeader.newBuilder(),
        new ByteArrayInputStream(bytes)));
    }
  }

  @Test
  public void testSmallMessageTakesNoLargeBuffer() throws IOException {
    byte[] bytes = delimited(ResponseHeader.newBuilder().setCallId(1).build());
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getThreadAllocatedBytes(thread);
      for (int i = 0; i < CALLS; i++) {
        DelimitedMessages.parse(ResponseHeader.newBuilder(), new ByteArrayInputStream(bytes));
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
    }
    assertTrue(least / CALLS + " bytes", least / CALLS < 1000);
  }
}
