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
package org.apache.hadoop.hbase.io;

import java.nio.ByteBuffer;
import java.util.AbstractQueue;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The free buffers of a pool, in LIFO order. A recently used buffer is still in the processor's
 * cache, so that a copy into it is fast. With a FIFO queue, a pool of 1920 buffers of 65 KB makes
 * every read go to memory that has been evicted from all caches: for a block of 32 KB from the page
 * cache, that is half of the time. A pool that was once large also stops touching the buffers that
 * it no longer needs.
 * <p>
 * Thread-safe and lock-free: a stack after R. K. Treiber, "Systems programming: coping with
 * parallelism" (1986). Each insertion allocates a node of its own, as ConcurrentLinkedQueue does,
 * which avoids the ABA problem. {@link #size} and {@link #iterator} traverse the buffers at some
 * moment, in linear time; for tests.
 */
@InterfaceAudience.Private
final class ByteBufferStack extends AbstractQueue<ByteBuffer> {

  private static final class Node {
    private final ByteBuffer buffer;
    private Node below;

    Node(ByteBuffer buffer) {
      this.buffer = buffer;
    }
  }

  private final AtomicReference<Node> top = new AtomicReference<>();

  /**
   * Pushes a buffer.
   * @return true
   * @throws NullPointerException if it is null
   */
  @Override
  public boolean offer(ByteBuffer buffer) {
    if (buffer == null) {
      throw new NullPointerException("buffer");
    }
    Node node = new Node(buffer);
    do {
      node.below = top.get();
    } while (!top.compareAndSet(node.below, node));
    return true;
  }

  /** Pops the buffer that was pushed last; returns null if there is none. */
  @Override
  public ByteBuffer poll() {
    Node node;
    do {
      node = top.get();
      if (node == null) {
        return null;
      }
    } while (!top.compareAndSet(node, node.below));
    return node.buffer;
  }

  @Override
  public ByteBuffer peek() {
    Node node = top.get();
    return node == null ? null : node.buffer;
  }

  @Override
  public boolean isEmpty() {
    return top.get() == null;
  }

  @Override
  public int size() {
    int size = 0;
    for (Node node = top.get(); node != null; node = node.below) {
      size++;
    }
    return size;
  }

  /** Iterates from the top; does not support removal. */
  @Override
  public Iterator<ByteBuffer> iterator() {
    return new Iterator<ByteBuffer>() {
      private Node next = top.get();

      @Override
      public boolean hasNext() {
        return next != null;
      }

      @Override
      public ByteBuffer next() {
        if (next == null) {
          throw new NoSuchElementException();
        }
        ByteBuffer buffer = next.buffer;
        next = next.below;
        return buffer;
      }
    };
  }
}
