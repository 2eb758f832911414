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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * The request of a write, of which no more is read than is needed to decide whether it waits. Not
 * thread-safe: for the thread that has parsed the request.
 */
@InterfaceAudience.Private
public interface WriteRequest {

  ByteString regionName();

  /** Returns the mutation that the handler gets, which identifies the request; null of a batch. */
  MutationProto proto();

  /** Returns the request. */
  Message param();

  long nonce();

  long nonceGroup();

  /** Returns the call's priority for the scheduler. */
  int priority();

  /** Returns the size of the request in bytes. */
  long size();

  /** Returns null if the region is not online here. */
  HRegion region();

  /** Reads the write. */
  Row write() throws IOException;
}
