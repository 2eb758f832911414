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
package org.apache.hadoop.hbase.nio;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Into how many reads of a channel a read of a large buffer is divided. */
@Category({ IOTests.class, SmallTests.class })
public class TestByteBuffReadsInOneGo {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestByteBuffReadsInOneGo.class);

  private static final int SIZE = 200 * 1024;
  private static final int PIECE = 64 * 1024;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  /** Fills the buffers, and records the size of each read. */
  private static final class Source implements ReadableByteChannel {
    private final List<Integer> asked = new ArrayList<>();

    @Override
    public int read(ByteBuffer target) {
      int length = target.remaining();
      asked.add(length);
      target.position(target.limit());
      return length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }

  private static List<Integer> readsFor(ByteBuffer buffer) throws Exception {
    Source source = new Source();
    ByteBuff target = ByteBuff.wrap(buffer);
    assertEquals(SIZE, target.read(source));
    assertEquals(SIZE, target.position());
    return source.asked;
  }

  @Test
  public void testDirectBufferIsReadInOneGo() throws Exception {
    assertEquals(Arrays.asList(SIZE), readsFor(ByteBuffer.allocateDirect(SIZE)));
  }

  /** The JDK copies it by way of a direct buffer of that size, which it keeps for the thread. */
  @Test
  public void testHeapBufferIsReadInPieces() throws Exception {
    assertEquals(Arrays.asList(PIECE, PIECE, PIECE, SIZE - 3 * PIECE),
      readsFor(ByteBuffer.allocate(SIZE)));
  }

  @Test
  public void testBytesAreThoseOfTheFile() throws Exception {
    byte[] bytes = new byte[SIZE];
    new Random(1).nextBytes(bytes);
    File file = folder.newFile();
    Files.write(file.toPath(), bytes);
    int offset = 1000;
    for (ByteBuffer buffer : new ByteBuffer[] { ByteBuffer.allocate(SIZE),
      ByteBuffer.allocateDirect(SIZE) }) {
      ByteBuff target = ByteBuff.wrap(buffer);
      try (FileChannel channel = FileChannel.open(file.toPath(), StandardOpenOption.READ)) {
        // The file ends before the buffer is full.
        assertEquals(SIZE - offset, target.read(channel, offset));
      }
      target.rewind();
      byte[] read = new byte[SIZE - offset];
      target.get(read);
      assertArrayEquals(Arrays.copyOfRange(bytes, offset, SIZE), read);
    }
  }
}
