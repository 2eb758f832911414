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

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.apache.hadoop.hdfs.util.ByteArrayManager;
import org.junit.Test;

public class TestAllocationSamples {
  private static final int PACKET = 64 << 10;
  private static final int MEGABYTE = 1 << 20;

  /** Where arrays end, so that none is left out by the compiler. */
  private static volatile byte[] last;

  @Test
  public void testWhatAThreadAllocatedBeforeCountsForNobody() throws Exception {
    for (int i = 0; i < 256; i++) {
      last = new byte[MEGABYTE];
    }
    double share = packetShare(() -> {
      ByteArrayManager packets = ByteArrayManager.newInstance(null);
      for (int i = 0; i < 16_384; i++) {
        last = packets.newByteArray(PACKET);
      }
    });
    assertTrue("share " + share, share > 0.5);
  }

  @Test
  public void testWhatIsNoPacketHasNoShare() throws Exception {
    double share = packetShare(() -> {
      for (int i = 0; i < 16_384; i++) {
        last = new byte[PACKET];
      }
    });
    assertTrue("share " + share, share < 0.5);
  }

  /** What allocates. */
  private interface Work {
    void run() throws InterruptedException;
  }

  private static double packetShare(Work work) throws IOException, InterruptedException {
    Path file = Files.createTempFile("stratum-bench", ".jfr");
    try (Recording recording = AllocationSamples.record()) {
      work.run();
      recording.stop();
      recording.dump(file);
      return AllocationSamples.report(RecordingFile.readAllEvents(file));
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
