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
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A buffer pool with size classes for small allocations. The default pool has buffers of one size,
 * 65 KB by default, and uses the heap for anything that would not fill a sixth of one: a block of 4
 * or 8 KB, or the remainder of a larger block beyond a multiple of the buffer's size. This one
 * divides a buffer into pieces of equal size, a third, a sixth, a twelfth or a twenty-fourth of it,
 * and serves sizes up to a third of a buffer from them, each from the smallest class that fits.
 * Only sizes below a forty-eighth (1.4 KB), such as most requests, use the heap.
 * <p>
 * The memory is bounded as before: a divided buffer counts as one in use,
 * <code>hbase.server.allocator.max.buffer.count</code> limits both together, and a buffer whose
 * pieces have all been returned becomes whole again and free for any use, except for one of each
 * size.
 * <p>
 * Used if {@value #ENABLED_KEY} is set and {@link ByteBuffAllocator#BYTEBUFF_ALLOCATOR_CLASS} is
 * not. Thread-safe. Taking and returning a piece hold the lock of its size class while one
 * reference is moved; a buffer is taken or allocated outside the lock, as the JVM may try for half
 * a second when direct memory is short. One thread at a time does that, so that not every waiting
 * thread divides a buffer; the others wait for the pieces for a limited time.
 */
@InterfaceAudience.Private
public class SizeClassByteBuffAllocator extends ByteBuffAllocator {

  /** Whether the server's pool has size classes; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.server.allocator.size.classes.enabled";

  /** Numbers of pieces per buffer, from the smallest pieces on. */
  private static final int[] PIECES_PER_BUFFER = { 24, 12, 6, 3 };

  /** How many times the minimum pooled size fits into a buffer. */
  private static final int MIN_PART_OF_BUFFER = 48;

  /** Maximum time to wait for a piece while another thread divides a buffer. */
  private static final long DIVISION_WAIT_MILLIS = 10;

  private final int minSize;
  /** Size from which on a whole buffer is used when there is no piece. */
  private final int minSizeOfBuffer;
  private final SizeClass[] classes = new SizeClass[PIECES_PER_BUFFER.length];
  private final LongAdder pieceBytes = new LongAdder();

  /** Has the parameters that {@link ByteBuffAllocator#create} passes. */
  public SizeClassByteBuffAllocator(boolean reservoirEnabled, int maxBufCount, int bufSize,
    int minSizeForReservoirUse) {
    super(reservoirEnabled, maxBufCount, bufSize, minSizeForReservoirUse);
    this.minSizeOfBuffer = minSizeForReservoirUse;
    this.minSize = Math.max(1, bufSize / MIN_PART_OF_BUFFER);
    for (int i = 0; i < classes.length; i++) {
      classes[i] = new SizeClass(PIECES_PER_BUFFER[i]);
    }
  }

  /**
   * Returns the class of the pool if none is configured.
   * @throws IllegalArgumentException if {@value #ENABLED_KEY} is neither true nor false
   */
  static Class<? extends ByteBuffAllocator> classFor(Configuration conf) {
    return SettingsReader.of(conf).flag(ENABLED_KEY, false)
      ? SizeClassByteBuffAllocator.class
      : ByteBuffAllocator.class;
  }

  @Override
  public ByteBuff allocate(int size) {
    int tail = size <= 0 ? 0 : size % bufSize;
    Piece piece = isReservoirEnabled() ? takePiece(tail) : null;
    if (piece == null) {
      if (isReservoirEnabled() && size >= minSize && size < minSizeOfBuffer) {
        // A larger size finds no whole buffer either, and is counted then.
        getExhaustion().fellToHeap(size, getTotalBufferCount());
      }
      return super.allocate(size);
    }
    if (size == tail) {
      return new SingleByteBuff(piece, piece.clear(tail));
    }
    try {
      ByteBuff whole = super.allocate(size - tail);
      ByteBuffer[] buffers = whole.nioByteBuffers();
      buffers = Arrays.copyOf(buffers, buffers.length + 1);
      buffers[buffers.length - 1] = piece.clear(tail);
      return ByteBuff.wrap(buffers, () -> {
        whole.release();
        piece.free();
      });
    } catch (Throwable e) {
      piece.free();
      throw e;
    }
  }

  /** Counts pieces by the requested size; the buffers that they are part of are not counted. */
  @Override
  public long getPoolAllocationBytes() {
    return super.getPoolAllocationBytes() + pieceBytes.sum();
  }

  @Override
  public void clean() {
    for (SizeClass sizeClass : classes) {
      sizeClass.forget();
    }
    pieceBytes.reset();
    super.clean();
  }

  /** Returns a piece for {@code size} bytes, or null if another allocation must be used. */
  private Piece takePiece(int size) {
    if (size < minSize) {
      return null;
    }
    for (SizeClass sizeClass : classes) {
      if (size <= sizeClass.pieceSize) {
        Piece piece = sizeClass.takePiece();
        if (piece != null) {
          pieceBytes.add(size);
        }
        return piece;
      }
    }
    return null;
  }

  /** A part of a buffer, which is returned to it when it is released. */
  private static final class Piece implements Recycler {
    private final DividedBuffer owner;
    private final ByteBuffer bytes;

    Piece(DividedBuffer owner, ByteBuffer bytes) {
      this.owner = owner;
      this.bytes = bytes;
    }

    ByteBuffer clear(int size) {
      bytes.clear();
      bytes.limit(size);
      return bytes;
    }

    @Override
    public void free() {
      owner.sizeClass.putBack(this);
    }
  }

  /** A buffer of the pool and its pieces. Guarded by its size class. */
  private static final class DividedBuffer {
    private final SizeClass sizeClass;
    private final ByteBuffer buffer;
    /** The free pieces, at the front. */
    private final Piece[] free;
    private int freeCount;
    /** Neighbours in the list of buffers with free pieces. */
    private DividedBuffer previous;
    private DividedBuffer next;

    DividedBuffer(SizeClass sizeClass, ByteBuffer buffer, int pieces) {
      this.sizeClass = sizeClass;
      this.buffer = buffer;
      this.free = new Piece[pieces];
      for (int i = 0; i < pieces; i++) {
        ByteBuffer part = buffer.duplicate();
        part.position(i * sizeClass.pieceSize).limit((i + 1) * sizeClass.pieceSize);
        free[i] = new Piece(this, part.slice());
      }
      this.freeCount = pieces;
    }
  }

  /** The buffers that are divided into pieces of one size. */
  private final class SizeClass {
    private final int pieces;
    private final int pieceSize;
    /** The first buffer with free pieces; a buffer without is referenced only by its pieces. */
    private DividedBuffer first;
    /** Held by the thread that takes a buffer to divide it. */
    private final ReentrantLock dividing = new ReentrantLock();

    SizeClass(int pieces) {
      this.pieces = pieces;
      this.pieceSize = bufSize / pieces;
    }

    Piece takePiece() {
      Piece piece = takeFree();
      if (piece != null) {
        return piece;
      }
      boolean locked = awaitDivision();
      try {
        piece = takeFree();
        return piece != null ? piece : divide();
      } finally {
        if (locked) {
          dividing.unlock();
        }
      }
    }

    /**
     * Returns false if another thread takes too long, so that this one should divide a buffer
     * itself.
     */
    private boolean awaitDivision() {
      if (dividing.tryLock()) {
        return true;
      }
      try {
        return dividing.tryLock(DIVISION_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        // Stays pending for a wait that this thread cannot skip.
        Thread.currentThread().interrupt();
        return false;
      }
    }

    private Piece divide() {
      ByteBuffer buffer = getBuffer();
      if (buffer == null) {
        return null;
      }
      DividedBuffer divided;
      try {
        divided = new DividedBuffer(this, buffer, pieces);
      } catch (Throwable e) {
        putbackBuffer(buffer);
        throw e;
      }
      pieceBytes.add(-bufSize);
      synchronized (this) {
        insert(divided);
        return takeFree();
      }
    }

    private synchronized Piece takeFree() {
      DividedBuffer divided = first;
      if (divided == null) {
        return null;
      }
      Piece piece = divided.free[--divided.freeCount];
      if (divided.freeCount == 0) {
        remove(divided);
      }
      return piece;
    }

    synchronized void putBack(Piece piece) {
      DividedBuffer divided = piece.owner;
      divided.free[divided.freeCount++] = piece;
      if (divided.freeCount == 1) {
        insert(divided);
      }
      // The last one stays, so that a single block that is inserted and removed repeatedly does not
      // divide a buffer each time.
      if (divided.freeCount == pieces && (divided.previous != null || divided.next != null)) {
        remove(divided);
        putbackBuffer(divided.buffer);
      }
    }

    synchronized void forget() {
      while (first != null) {
        remove(first);
      }
    }

    private void insert(DividedBuffer divided) {
      divided.next = first;
      if (first != null) {
        first.previous = divided;
      }
      first = divided;
    }

    private void remove(DividedBuffer divided) {
      if (divided.previous == null) {
        first = divided.next;
      } else {
        divided.previous.next = divided.next;
      }
      if (divided.next != null) {
        divided.next.previous = divided.previous;
      }
      divided.previous = null;
      divided.next = null;
    }
  }
}
