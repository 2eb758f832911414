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

import dev.stratum.childprocess.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Allocations of a process by source: samples of JFR, which weigh as many bytes as their thread has
 * allocated since its last one. The first of each thread is left out, since it weighs all that the
 * thread has ever allocated. Not thread-safe.
 */
final class AllocationSamples {
  private static final String EVENT = "jdk.ObjectAllocationSample";
  /** How many samples a second are taken at most. */
  private static final String THROTTLE = "1000/s";
  /** The HDFS client's buffers for packets come from there, whether they are kept or not. */
  private static final String PACKETS = "org.apache.hadoop.hdfs.util.ByteArrayManager";

  private final Recording recording = record();

  /** Starts to sample all threads. */
  static Recording record() {
    Recording recording = new Recording();
    recording.enable(EVENT).withStackTrace().with("throttle", THROTTLE);
    recording.start();
    return recording;
  }

  /**
   * Ends it, and has a process of its own say on standard output which share packets of HDFS's
   * client have, since what that takes would be counted with the last iteration.
   */
  void end() throws IOException {
    recording.stop();
    Path file = Files.createTempFile("stratum-bench", ".jfr");
    try {
      recording.dump(file);
      new JvmCommand(AllocationSamples.class).arguments(file.toString()).builder().inheritIO()
        .start().waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      recording.close();
      Files.deleteIfExists(file);
    }
  }

  /** Says which share packets of HDFS's client have in the recording that the argument names. */
  public static void main(String[] args) throws IOException {
    report(RecordingFile.readAllEvents(Path.of(args[0])));
  }

  /** Says which share of {@code events} packets have, and returns it, 0 to 1. */
  static double report(List<RecordedEvent> events) {
    Set<Long> threads = new HashSet<>();
    long all = 0;
    long packets = 0;
    int samples = 0;
    events.sort(Comparator.comparing(RecordedEvent::getStartTime));
    for (RecordedEvent event : events) {
      if (event.getThread() == null || threads.add(event.getThread().getId())) {
        continue;
      }
      long weight = event.getLong("weight");
      all += weight;
      packets += isPacket(event) ? weight : 0;
      samples++;
    }
    double share = (double) packets / Math.max(1, all);
    System.out.printf("%nOf %,d bytes allocated in all, by %d samples, packets of HDFS's client are"
      + " %.1f %%%n", all, samples, 100 * share);
    return share;
  }

  private static boolean isPacket(RecordedEvent event) {
    return event.getStackTrace() != null && event.getStackTrace().getFrames().stream()
      .anyMatch(frame -> frame.getMethod().getType().getName().startsWith(PACKETS));
  }
}
