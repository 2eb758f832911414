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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FilterFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.util.Progressable;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * All orders in which a slow server writes a hint, another one writes its own, the next one takes
 * it, and the region's directory is deleted.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestHotBlockHintInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHotBlockHintInterleavings.class);

  private static final int PREEMPTIONS = 4;
  private static final Configuration SETTINGS = new Configuration(false);
  private static final Path FILE = new Path("/table/region/.hot-blocks");

  private final Interleavings schedule = new Interleavings(PREEMPTIONS);

  /** What a path stands for, as long as it is not replaced or deleted. */
  private static final class Content {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private boolean gone;
  }

  /**
   * One file in one directory; nothing else of a file system is accessed. As in HDFS, a file that
   * is being written can be read as far as it was, a reader keeps what it has opened, and a writer
   * whose file is gone fails. Each write has two parts.
   */
  private final class OneFile extends FilterFileSystem {
    private boolean hasDirectory = true;
    private Content content;

    @Override
    public Configuration getConf() {
      return SETTINGS;
    }

    @Override
    public FSDataOutputStreamBuilder createFile(Path path) {
      return createDataOutputStreamBuilder(this, path).create();
    }

    @Override
    public short getDefaultReplication(Path path) {
      return 1;
    }

    @Override
    public long getDefaultBlockSize(Path path) {
      return 1 << 20;
    }

    private void replace(Content by) {
      if (content != null) {
        content.gone = true;
      }
      content = by;
    }

    void deleteDirectory() {
      schedule.point();
      hasDirectory = false;
      replace(null);
    }

    private FSDataOutputStream create(boolean recursive) throws IOException {
      schedule.point();
      if (!hasDirectory && !recursive) {
        throw new FileNotFoundException("directory");
      }
      hasDirectory = true;
      Content created = new Content();
      replace(created);
      return new FSDataOutputStream(new OutputStream() {
        private void checkLease() throws IOException {
          if (created.gone) {
            throw new FileNotFoundException("lease");
          }
        }

        @Override
        public void write(int b) {
          throw new UnsupportedOperationException();
        }

        @Override
        public void write(byte[] b, int off, int len) throws IOException {
          for (int part : new int[] { len / 2, len - len / 2 }) {
            schedule.point();
            checkLease();
            created.bytes.write(b, off, part);
            off += part;
          }
        }

        @Override
        public void close() throws IOException {
          schedule.point();
          checkLease();
        }
      }, null);
    }

    @Override
    public FSDataOutputStream createNonRecursive(Path f, FsPermission permission,
      EnumSet<CreateFlag> flags, int bufferSize, short replication, long blockSize,
      Progressable progress) throws IOException {
      return create(false);
    }

    @Override
    public FSDataOutputStream create(Path f, FsPermission permission, boolean overwrite,
      int bufferSize, short replication, long blockSize, Progressable progress)
      throws IOException {
      return create(true);
    }

    @Override
    public FSDataInputStream open(Path f, int bufferSize) throws IOException {
      schedule.point();
      Content opened = content;
      if (opened == null) {
        throw new FileNotFoundException("file");
      }
      return new FSDataInputStream(new FSInputStream() {
        private int position;

        @Override
        public int read() {
          throw new UnsupportedOperationException();
        }

        @Override
        public int read(byte[] b, int off, int len) {
          schedule.point();
          byte[] bytes = opened.bytes.toByteArray();
          int count = Math.min(len, bytes.length - position);
          System.arraycopy(bytes, position, b, off, count);
          position += count;
          return count == 0 ? -1 : count;
        }

        @Override
        public void seek(long pos) {
          position = (int) pos;
        }

        @Override
        public long getPos() {
          return position;
        }

        @Override
        public boolean seekToNewSource(long targetPos) {
          return false;
        }
      });
    }

    @Override
    public boolean delete(Path f, boolean recursive) {
      schedule.point();
      boolean deleted = content != null;
      replace(null);
      return deleted;
    }
  }

  /** Returns what a server gets: the hint's sequence id, or a word. */
  private static String taken(FileSystem files) {
    try {
      HotBlockHint hint = HotBlockHint.readAndDelete(files, FILE);
      return hint == null ? "none" : "hint " + hint.sequenceId();
    } catch (IOException e) {
      return "unreadable";
    }
  }

  private static void write(FileSystem files, long sequenceId) {
    try {
      new HotBlockHint(sequenceId).write(files, FILE);
    } catch (IOException e) {
      // The server logs it.
    }
  }

  @Test
  public void testAHintIsTakenWholeOrNotAtAll() throws Exception {
    Set<String> results = new TreeSet<>();
    int runs = 0;
    do {
      OneFile files = new OneFile();
      String[] result = new String[1];
      schedule.run(true, () -> write(files, 1), () -> write(files, 2),
        () -> result[0] = taken(files));
      schedule.check();
      assertTrue(schedule.isDone());
      results.add(result[0]);
      // Nothing else runs any more: what is left can be taken once.
      String left = taken(files);
      assertTrue(left, Arrays.asList("none", "hint 1", "hint 2").contains(left));
      assertFalse(left + " after " + result[0],
        left.equals(result[0]) && !left.equals("none"));
      assertEquals("none", taken(files));
      runs++;
    } while (schedule.next());
    schedule.close();
    assertEquals(new TreeSet<>(Arrays.asList("hint 1", "hint 2", "none", "unreadable")), results);
    assertTrue("runs " + runs, runs > 1000);
  }

  @Test
  public void testADeletedRegionDoesNotComeBack() throws Exception {
    int runs = 0;
    do {
      OneFile files = new OneFile();
      schedule.run(true, () -> write(files, 1), files::deleteDirectory, () -> taken(files));
      schedule.check();
      assertTrue(schedule.isDone());
      assertFalse("run " + runs, files.hasDirectory);
      assertEquals("none", taken(files));
      runs++;
    } while (schedule.next());
    schedule.close();
    assertTrue("runs " + runs, runs > 20);
  }
}
