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
package org.apache.hadoop.hbase.regionserver.counter;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * What a call asks for, of which no more is read than is needed to know whether it has to wait.
 * Not thread-safe: for the thread that has read the request.
 */
@InterfaceAudience.Private
public interface IncrementRequest {

  ByteString regionName();

  /** Returns what the handler is given too, by which it is known to be this request. */
  MutationProto mutation();

  long nonceGroup();

  /** Returns the call's, which the scheduler goes by. */
  int priority();

  /** Returns null if it is not here. */
  HRegion region();

  /** Reads it, or says what is wrong with it. */
  Increment increment() throws IOException;
}
