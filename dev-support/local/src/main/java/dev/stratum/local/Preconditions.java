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
package dev.stratum.local;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** What must hold before the servers start; each violation is one sentence with a remedy. */
final class Preconditions {
  private static final long MB = 1 << 20;
  /** Code, thread stacks and the collector's own memory, as seen on JDK 17. */
  private static final long JVM_OVERHEAD_MB = 300;
  private static final int CONNECT_TIMEOUT_MS = 200;

  private Preconditions() {
  }

  /** @throws RunLocalException if something listens on one of the ports */
  static void portsFree(Map<String, Integer> ports) throws RunLocalException {
    for (Map.Entry<String, Integer> port : ports.entrySet()) {
      if (!isFree(port.getValue())) {
        throw new RunLocalException("Port " + port.getValue() + " (" + port.getKey()
          + ") is in use; stop what listens there or choose another one with -D" + port.getKey()
          + "=PORT.");
      }
    }
  }

  private static boolean isFree(int port) {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    // Where a listener on all interfaces does not keep others from binding to one of them, only
    // connecting finds it.
    try (Socket socket = new Socket()) {
      socket.connect(address, CONNECT_TIMEOUT_MS);
      return false;
    } catch (IOException refused) {
      // No server listens; binding still has to work.
    }
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(address);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * @param directMb the JVM's limit of direct memory, MB
   * @throws RunLocalException if this machine, or the container, cannot hold the JVM
   */
  static void enoughMemory(long directMb) throws IOException, RunLocalException {
    OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long heapMb = Runtime.getRuntime().maxMemory() / MB;
    long availableMb = system.getTotalMemorySize() / MB;
    // The bean's free memory leaves out what the page cache would give back.
    Path meminfo = Path.of("/proc/meminfo");
    if (Files.isReadable(meminfo)) {
      OptionalLong linuxMb = availableMb(Files.readAllLines(meminfo));
      if (linuxMb.isPresent()) {
        availableMb = Math.min(availableMb, linuxMb.getAsLong());
      }
    }
    checkMemory(heapMb, directMb, availableMb);
  }

  static void checkMemory(long heapMb, long directMb, long availableMb) throws RunLocalException {
    long neededMb = heapMb + directMb + JVM_OVERHEAD_MB;
    if (neededMb > availableMb) {
      throw new RunLocalException("Too little memory: " + neededMb + " MB are needed (heap "
        + heapMb + ", direct " + directMb + ", the JVM itself " + JVM_OVERHEAD_MB + ") and "
        + availableMb + " MB are available; choose a smaller --l1-mb or stop other programs.");
    }
  }

  /** The MemAvailable figure of Linux, MB. */
  static OptionalLong availableMb(List<String> meminfo) {
    return meminfo.stream().filter(line -> line.startsWith("MemAvailable:"))
      .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024).findFirst();
  }

  /** @throws RunLocalException if the data and the file of L2 do not fit on the disk */
  static void enoughDisk(Path folder, long neededMb) throws IOException, RunLocalException {
    FileStore disk = Files.getFileStore(folder);
    long usableMb = disk.getUsableSpace() / MB;
    if (neededMb > usableMb) {
      throw new RunLocalException("Too little disk space: " + neededMb + " MB are needed in "
        + folder + " and " + usableMb + " MB are free; choose a smaller --rows or --l2-mb.");
    }
  }
}
