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

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.io.IOUtils;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.io.ByteStreams;
import org.apache.hbase.thirdparty.com.google.protobuf.CodedInputStream;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Reads protobuf messages that are preceded by their length, as
 * <code>Message.Builder.mergeDelimitedFrom</code> does, with a buffer of the message's size instead
 * of one of 4 KB: a response has two such messages, most of them of less than 100 bytes.
 * <p>
 * Stateless.
 */
@InterfaceAudience.Private
final class DelimitedMessages {
  /** The size in bytes up to which a message is read at once; longer ones need no more than it. */
  static final int MAX_BUFFER = 4096;

  private DelimitedMessages() {
  }

  /**
   * Reads one message and nothing behind it.
   * @return false if the stream had ended before the message
   * @throws IOException if the stream ends in it or it cannot be parsed
   */
  static boolean merge(Message.Builder builder, InputStream in) throws IOException {
    int first = in.read();
    if (first < 0) {
      return false;
    }
    int size = CodedInputStream.readRawVarint32(first, in);
    if (size < 0 || size > MAX_BUFFER) {
      builder.mergeFrom(ByteStreams.limit(in, size & 0xffffffffL));
    } else if (size > 0) {
      byte[] bytes = new byte[size];
      IOUtils.readFully(in, bytes, 0, size);
      builder.mergeFrom(bytes);
    }
    return true;
  }

  /**
   * Reads one message and nothing behind it.
   * @throws EOFException if the stream had ended before the message
   * @throws IOException  if the stream ends in it or it cannot be parsed
   */
  static Message parse(Message.Builder builder, InputStream in) throws IOException {
    if (!merge(builder, in)) {
      throw new EOFException("End of the stream where a message should begin");
    }
    return builder.build();
  }
}
