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
package dev.stratum.processes;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.stratum.childprocess.Conversation;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.nio.RefCnt;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.wal.LossWindow;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;

import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;
import org.apache.hbase.thirdparty.io.netty.util.internal.PlatformDependent;

/**
 * A RegionServer whose state tests inspect. More requests:
 * <ul>
 * <li><code>window</code>, on the fork's jars: see {@link LossWindow};</li>
 * <li><code>blocks</code>: how many the block cache's last tier has;</li>
 * <li><code>orphans</code>: how many blocks the cache has, by the file, of files that no region of
 * the server has;</li>
 * <li><code>held</code>: how many <code>threads</code> and <code>files</code> the JVM has;</li>
 * <li><code>sizes</code>: what must not grow, by the name of a {@link Soaked}, after a collection
 * of garbage;</li>
 * <li><code>watch</code>, and later <code>waits</code>: see {@link EventLoopWaits};</li>
 * <li><code>clock</code> with <code>aheadMillis</code>: from now on HBase's clock is so much ahead
 * of the machine's;</li>
 * <li><code>flushes</code>: how many are queued;</li>
 * <li><code>collect</code>: collects garbage, so that what leaked is reported to the log.</li>
 * </ul>
 */
final class InspectedRegionServerProcess extends RegionServerProcess {
  private static final int COLLECTIONS = 3;

  private EventLoopWaits waits;

  private InspectedRegionServerProcess() {
  }

  public static void main(String[] args) throws Exception {
    // It is started while another one still runs, and gets its settings when that has stopped.
    Class.forName(HRegionServer.class.getName());
    Conversation.hold(new InspectedRegionServerProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "window":
        return new JsonPrimitive(LossWindow.start());
      case "blocks":
        return new JsonPrimitive(lastTier().getBlockCount());
      case "orphans":
        return orphans();
      case "held":
        return held();
      case "sizes":
        return sizes();
      case "watch":
        waits = new EventLoopWaits();
        return null;
      case "waits":
        return new Gson().toJsonTree(waits.found());
      case "clock":
        long aheadMillis = request.get("aheadMillis").getAsLong();
        EnvironmentEdgeManager.injectEdge(() -> System.currentTimeMillis() + aheadMillis);
        return null;
      case "flushes":
        return new JsonPrimitive(server().getMemStoreFlusher().getFlushQueueSize());
      case "collect":
        collect();
        return null;
      default:
        return super.answer(request, conversation);
    }
  }

  private BlockCache lastTier() {
    BlockCache cache = server().getBlockCache().orElseThrow();
    BlockCache[] tiers = cache.getBlockCaches();
    return tiers == null ? cache : tiers[tiers.length - 1];
  }

  private JsonObject orphans() {
    // The cached files are listed first: a file that is added meanwhile is not among them.
    Map<String, Integer> cached = new TreeMap<>();
    for (CachedBlock block : server().getBlockCache().orElseThrow()) {
      cached.merge(block.getFilename(), 1, Integer::sum);
    }
    Set<String> files = new TreeSet<>();
    for (String name : storeFiles()) {
      files.add(name);
      // Half of a file that was split is cached under the name of the whole.
      files.add(name.split("\\.")[0]);
    }
    JsonObject orphans = new JsonObject();
    cached.forEach((file, count) -> {
      if (!files.contains(file) && !files.contains(file.split("\\.")[0])) {
        orphans.addProperty(file, count);
      }
    });
    return orphans;
  }

  private Set<String> storeFiles() {
    Set<String> files = new TreeSet<>();
    for (Object region : server().getOnlineRegionsLocalContext()) {
      for (HStore store : ((HRegion) region).getStores()) {
        for (HStoreFile file : store.getStorefiles()) {
          files.add(file.getPath().getName());
        }
      }
    }
    return files;
  }

  private static JsonObject held() {
    JsonObject held = new JsonObject();
    held.addProperty("threads", ManagementFactory.getThreadMXBean().getThreadCount());
    held.addProperty("files", ManagementFactory
      .getPlatformMXBean(UnixOperatingSystemMXBean.class).getOpenFileDescriptorCount());
    return held;
  }

  private JsonObject sizes() {
    // Garbage is collected first, since the sizes are of what the server holds.
    System.gc();
    JsonObject sizes = new JsonObject();
    sizes.addProperty(Soaked.HEAP.name(),
      ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    long direct = PlatformDependent.usedDirectMemory();
    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
      if (pool.getName().equals("direct")) {
        direct += pool.getMemoryUsed();
      }
    }
    sizes.addProperty(Soaked.DIRECT_MEMORY.name(), direct);
    sizes.addProperty(Soaked.POOL_BUFFERS.name(),
      server().getRpcServer().getByteBuffAllocator().getUsedBufferCount());
    JsonObject held = held();
    sizes.add(Soaked.THREADS.name(), held.get("threads"));
    sizes.add(Soaked.FILES.name(), held.get("files"));
    sizes.addProperty(Soaked.WAITING_CALLS.name(),
      ServerCalls.waiting(server().getRpcServer().getScheduler()));
    return sizes;
  }

  private static void collect() throws InterruptedException {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
      Thread.sleep(50);
      // A detector reports what it has found when it is asked to track something new.
      RefCnt.create(() -> {
      }).release();
    }
  }
}
