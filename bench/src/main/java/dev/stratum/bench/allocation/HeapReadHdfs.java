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
package dev.stratum.bench.allocation;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * HDFS, read through streams that know no byte buffers, as those of an HDFS before 3.3 are for
 * reads by position. Its streams are thread-safe as far as HDFS's own are.
 */
public final class HeapReadHdfs extends DistributedFileSystem {
  @Override
  public FSDataInputStream open(Path path, int bufferSize) throws IOException {
    return new FSDataInputStream(new ArrayStream(super.open(path, bufferSize)));
  }

  private static final class ArrayStream extends FSInputStream {
    private final FSDataInputStream in;

    ArrayStream(FSDataInputStream in) {
      this.in = in;
    }

    @Override
    public void seek(long position) throws IOException {
      in.seek(position);
    }

    @Override
    public long getPos() throws IOException {
      return in.getPos();
    }

    @Override
    public boolean seekToNewSource(long targetPosition) throws IOException {
      return in.seekToNewSource(targetPosition);
    }

    @Override
    public int read() throws IOException {
      return in.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      return in.read(bytes, offset, length);
    }

    @Override
    public int read(long position, byte[] bytes, int offset, int length) throws IOException {
      return in.read(position, bytes, offset, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
