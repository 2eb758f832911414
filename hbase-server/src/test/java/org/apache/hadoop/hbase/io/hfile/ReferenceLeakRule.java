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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertEquals;

import java.util.Collections;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.nio.RefCnt;
import org.junit.rules.ExternalResource;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

/**
 * Runs a test with the leak detector at paranoid and fails it if any reference-counted buffer was
 * collected as garbage before its last reference was released.
 */
public final class ReferenceLeakRule extends ExternalResource {
  private final Queue<String> leaks = new ConcurrentLinkedQueue<>();
  private ResourceLeakDetector.Level before;

  @Override
  protected void before() {
    before = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
    RefCnt.detector.setLeakListener((type, records) -> leaks.add(type + records));
  }

  @Override
  protected void after() {
    try {
      for (int i = 0; i < 3; i++) {
        System.gc();
        // Leaks are reported when the next resource is tracked.
        RefCnt.create(() -> ByteBuffAllocator.NONE.free()).release();
      }
      assertEquals("Buffers lost without release", Collections.emptyList(),
        new java.util.ArrayList<>(leaks));
    } finally {
      RefCnt.detector.setLeakListener(null);
      ResourceLeakDetector.setLevel(before);
    }
  }
}
