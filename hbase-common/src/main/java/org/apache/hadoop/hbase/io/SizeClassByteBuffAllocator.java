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
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A pool that serves small sizes too. The plain one has buffers of one size, 65 KB by default, and
 * leaves to the heap what would not fill a sixth of one: a block of 4 or 8 KB, or what a larger
 * block has beyond a multiple of the buffer's size. This one divides a buffer into pieces of equal
 * size, a third, a sixth, a twelfth or a twenty-fourth of it, and serves what is no larger than a
 * third from them, each from the smallest that it fits in. Only what is smaller than a forty-eighth
 * (1.4 KB), most requests for example, is left to the heap.
 * <p>
 * The memory is bounded as before: a buffer that is divided counts as one in use,
 * <code>hbase.server.allocator.max.buffer.count</code> limits both together, and a buffer whose
 * pieces have all come back is whole again and free for any use, but for one of each size.
 * <p>
 * In use when {@value #ENABLED_KEY} is set and {@link ByteBuffAllocator#BYTEBUFF_ALLOCATOR_CLASS}
 * is not. Thread-safe. Taking a piece and returning it holds a lock of its size for as long as it
 * takes to move one reference; a buffer is taken or allocated outside it, as the JVM may try for
 * half a second when direct memory is short. One thread does that at a time, so that a buffer is
 * not divided for each of them; others wait for the pieces, but not for long.
 */
@InterfaceAudience.Private
public class SizeClassByteBuffAllocator extends ByteBuffAllocator {

  /** Whether the server's pool is one of these; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.server.allocator.size.classes.enabled";

  /** Into how many pieces a buffer is divided, from the smallest pieces on. */
  private static final int[] PIECES_PER_BUFFER = { 24, 12, 6, 3 };

  /** How many times the smallest size that is served goes into a buffer. */
  private static final int MIN_PART_OF_BUFFER = 48;

  /** How long a piece is waited for while another thread is at dividing a buffer. */
  private static final long DIVISION_WAIT_MILLIS = 10;

  private final int minSize;
  /** From which size on a whole buffer is used when there is no piece. */
  private final int minSizeOfBuffer;
  private final SizeClass[] classes = new SizeClass[PIECES_PER_BUFFER.length];
  private final LongAdder pieceBytes = new LongAdder();

  /** With the parameters that {@link ByteBuffAllocator#create} gives. */
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
   * Returns the class of the pool where none is named.
   * @throws IllegalArgumentException if {@value #ENABLED_KEY} is neither true nor false
   */
  static Class<? extends ByteBuffAllocator> classFor(Configuration conf) {
    String enabled = conf.getTrimmed(ENABLED_KEY, "false");
    if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException(
        ENABLED_KEY + " is '" + enabled + "', set it to true or false");
    }
    return Boolean.parseBoolean(enabled)
      ? SizeClassByteBuffAllocator.class
      : ByteBuffAllocator.class;
  }

  @Override
  public ByteBuff allocate(int size) {
    int tail = size <= 0 ? 0 : size % bufSize;
    Piece piece = isReservoirEnabled() ? takePiece(tail) : null;
    if (piece == null) {
      if (isReservoirEnabled() && size >= minSize && size < minSizeOfBuffer) {
        // What is larger will find that there is no whole buffer either, and be counted then.
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

  /** Pieces count with what was asked for, and the buffers that they are made of do not. */
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

  /** Returns a piece for {@code size} bytes, or null if they are to be had elsewhere. */
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

  /** A part of a buffer, which goes back there when it is released. */
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

  /** A buffer of the pool and its pieces. All of it is guarded by its size class. */
  private static final class DividedBuffer {
    private final SizeClass sizeClass;
    private final ByteBuffer buffer;
    /** The pieces that are free, at the front. */
    private final Piece[] free;
    private int freeCount;
    /** Neighbours in the list of those that have free pieces. */
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
    /** Those with free pieces; one without is known to its pieces alone. */
    private DividedBuffer first;
    /** Of the thread that takes a buffer to divide it. */
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

    /** Returns false if another thread takes long, and this one is to get a buffer of its own. */
    private boolean awaitDivision() {
      if (dividing.tryLock()) {
        return true;
      }
      try {
        return dividing.tryLock(DIVISION_WAIT_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        // For whoever waits for something that it does not get otherwise.
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
      // The last one stays, so that a single block that comes and goes divides no buffer each time.
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
