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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/** Contiguous memory of a {@link RowRing}. No entry crosses its end. Not thread-safe. */
@InterfaceAudience.Private
final class RowPage {
  private final ByteBuffer memory;
  private final int number;
  private RowRing ring;
  private RowPage next = this;

  RowPage(ByteBuffer memory, int number) {
    this.memory = memory;
    this.number = number;
  }

  ByteBuffer memory() {
    return memory;
  }

  int number() {
    return number;
  }

  int size() {
    return memory.capacity();
  }

  /** Returns the address of the entry at an offset. */
  int address(int offset) {
    return RowPages.address(number, offset);
  }

  /** Returns the page that is filled after this one. */
  RowPage next() {
    return next;
  }

  void setNext(RowPage next) {
    this.next = next;
  }

  /** Returns the ring that it was added to. */
  RowRing ring() {
    return ring;
  }

  void setRing(RowRing ring) {
    this.ring = ring;
  }
}
