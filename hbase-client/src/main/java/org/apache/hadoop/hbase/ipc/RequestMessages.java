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

import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Writes the messages of a request through an array that the thread keeps. Protobuf allocates a
 * buffer for each message that is written to a stream, of up to 4 KB.
 * <p>
 * Thread-safe, but for the stream.
 */
@InterfaceAudience.Private
final class RequestMessages {
  /** Longer requests are written as protobuf does it, in bytes. */
  static final int MAX_LENGTH = 64 << 10;

  private static final int STEP = 1 << 10;

  private static final ThreadLocal<byte[]> BUFFER = ThreadLocal.withInitial(() -> new byte[STEP]);

  private RequestMessages() {
  }

  /**
   * Writes {@code totalSize} in 4 bytes, and each message after its length.
   * @param totalSize what the server is told, which counts the cells that follow as well
   * @param param     may be null
   */
  static void write(OutputStream out, int totalSize, Message header, Message param)
    throws IOException {
    int length = Bytes.SIZEOF_INT
      + (param == null
        ? IPCUtil.getTotalSizeWhenWrittenDelimited(header)
        : IPCUtil.getTotalSizeWhenWrittenDelimited(header, param));
    if (length > MAX_LENGTH) {
      out.write(Bytes.toBytes(totalSize));
      header.writeDelimitedTo(out);
      if (param != null) {
        param.writeDelimitedTo(out);
      }
      return;
    }
    byte[] buffer = atLeast(length);
    int offset = Bytes.putInt(buffer, 0, totalSize);
    CodedOutputStream messages =
      CodedOutputStream.newInstance(buffer, offset, length - Bytes.SIZEOF_INT);
    messages.writeMessageNoTag(header);
    if (param != null) {
      messages.writeMessageNoTag(param);
    }
    messages.checkNoSpaceLeft();
    out.write(buffer, 0, length);
  }

  private static byte[] atLeast(int length) {
    byte[] buffer = BUFFER.get();
    if (buffer.length < length) {
      buffer = new byte[(length + STEP - 1) / STEP * STEP];
      BUFFER.set(buffer);
    }
    return buffer;
  }
}
