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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Assume;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

@Category({ IOTests.class, SmallTests.class })
public class TestFileSegmentDevice {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFileSegmentDevice.class);

  private static final int SIZE = 1 << 20;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private File file() {
    return new File(folder.getRoot(), "segments");
  }

  private SegmentDevice open() throws IOException {
    return new FileSegmentDevice(file().getPath(), SIZE);
  }

  private static ByteBuffer bytes(int length) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length);
    for (int i = 0; i < length; i++) {
      bytes.put(i, (byte) (i * 31));
    }
    return bytes;
  }

  private static void assertReads(SegmentDevice device, int length, long position)
    throws IOException {
    ByteBuffer read = ByteBuffer.allocate(length);
    device.read(read, position);
    read.flip();
    assertEquals(bytes(length), read);
  }

  @Test
  public void testWhatIsWrittenIsRead() throws IOException {
    try (SegmentDevice device = open()) {
      assertEquals(SIZE, device.size());
      device.write(bytes(10_000), 77);
      device.sync();
      assertReads(device, 10_000, 77);
    }
    try (SegmentDevice device = open()) {
      assertReads(device, 10_000, 77);
    }
    assertEquals(SIZE, file().length());
  }

  @Test
  public void testFileGetsTheSizeItIsToHave() throws IOException {
    open().close();
    new FileSegmentDevice(file().getPath(), 2 * SIZE).close();
    assertEquals(2 * SIZE, file().length());
    open().close();
    assertEquals(SIZE, file().length());
  }

  @Test
  public void testInterruptStaysPendingAndClosesNothing() throws IOException {
    try (SegmentDevice device = open()) {
      Thread.currentThread().interrupt();
      device.write(bytes(1000), 0);
      assertTrue(Thread.interrupted());
      Thread.currentThread().interrupt();
      assertReads(device, 1000, 0);
      assertTrue(Thread.interrupted());
      Thread.currentThread().interrupt();
      device.sync();
      assertTrue(Thread.interrupted());
      assertReads(device, 1000, 0);
    }
  }

  @Test
  public void testInterruptsDoNotFailAnyonesAccess() throws Exception {
    try (SegmentDevice device = open()) {
      device.write(bytes(64 * 1024), 0);
      AtomicBoolean stop = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      Thread[] readers = new Thread[3];
      for (int i = 0; i < readers.length; i++) {
        readers[i] = new Thread(() -> {
          while (!stop.get()) {
            try {
              assertReads(device, 64 * 1024, 0);
              Thread.interrupted();
            } catch (Throwable e) {
              failure.set(e);
            }
          }
        });
        readers[i].start();
      }
      for (int i = 0; i < 2000; i++) {
        readers[i % readers.length].interrupt();
        Thread.yield();
      }
      stop.set(true);
      for (Thread reader : readers) {
        reader.join();
      }
      if (failure.get() != null) {
        throw new AssertionError(failure.get());
      }
    }
  }

  @Test
  public void testFileThatWasCutIsAnErrorAndNotWaitedFor() throws IOException {
    try (SegmentDevice device = open()) {
      try (RandomAccessFile cut = new RandomAccessFile(file(), "rw")) {
        cut.setLength(5000);
      }
      try {
        device.read(ByteBuffer.allocate(1000), 4500);
        fail("Read what is not there");
      } catch (EOFException e) {
        assertTrue(e.getMessage(), e.getMessage().contains("shorter"));
      }
    }
  }

  @Test
  public void testClosedDeviceStaysClosed() throws IOException {
    SegmentDevice device = open();
    device.close();
    IOException e =
      assertThrows(IOException.class, () -> device.read(ByteBuffer.allocate(10), 0));
    assertTrue(e.getMessage(), e.getMessage().contains("is closed"));
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  public void testNothingIsMadeWhenThereIsNotTheSpace() {
    IOException e = assertThrows(IOException.class,
      () -> new FileSegmentDevice(file().getPath(), Long.MAX_VALUE / 2));
    assertTrue(e.getMessage(), e.getMessage().contains(file().getPath()));
    assertFalse("a file is left", file().exists());
  }

  @Test
  public void testNoFileIsMadeAmongDevices() {
    String path = "/dev/stratum-no-such-device";
    IOException e = assertThrows(IOException.class, () -> new FileSegmentDevice(path, SIZE));
    assertTrue(e.getMessage(), e.getMessage().contains(path + " is not a device"));
    assertFalse(new File(path).exists());
  }

  @Test
  public void testReturnChangesNothingAndMakesWhatWasRemoved() throws IOException {
    IOException e = assertThrows(IOException.class,
      () -> FileSegmentDevice.OPENER.reopen(file().getPath(), SIZE, null));
    assertTrue(e.getMessage(), e.getMessage().contains("does not exist"));
    assertFalse(file().exists());
    SegmentDevice first = open();
    try (SegmentDevice again =
      FileSegmentDevice.OPENER.reopen(file().getPath(), SIZE, first)) {
      again.write(bytes(1000), 0);
      assertReads(first, 1000, 0);
    }
    try (SegmentDevice again =
      FileSegmentDevice.OPENER.reopen(file().getPath(), 2 * SIZE, first)) {
      assertEquals(SIZE, file().length());
      // The caller knows that the file was truncated.
      again.restoreSize();
      assertEquals(2 * SIZE, file().length());
      assertFalse(again.isMade());
    }
    assertTrue(file().delete());
    try (SegmentDevice again =
      FileSegmentDevice.OPENER.reopen(file().getPath(), SIZE, first)) {
      assertEquals(SIZE, file().length());
      assertTrue(again.isMade());
    }
    first.close();
  }

  /** The other file system is /dev/shm; the test is skipped where it is not writable. */
  @Test
  public void testFileOfAnotherFileSystemIsNotTakenBack() throws IOException {
    File shared = new File("/dev/shm");
    Assume.assumeTrue("/dev/shm is not to be written", shared.canWrite());
    File link = new File(folder.getRoot(), "link");
    File there = new File(shared, "stratum-" + System.nanoTime());
    try {
      Files.createSymbolicLink(link.toPath(), file().toPath());
      SegmentDevice former = new FileSegmentDevice(link.getPath(), SIZE);
      new FileSegmentDevice(there.getPath(), SIZE).close();
      Files.delete(link.toPath());
      Files.createSymbolicLink(link.toPath(), there.toPath());
      IOException e = assertThrows(IOException.class,
        () -> FileSegmentDevice.OPENER.reopen(link.getPath(), SIZE, former));
      assertTrue(e.getMessage(), e.getMessage().contains("mount the former one again"));
      former.close();
    } finally {
      Files.deleteIfExists(there.toPath());
    }
  }
}
