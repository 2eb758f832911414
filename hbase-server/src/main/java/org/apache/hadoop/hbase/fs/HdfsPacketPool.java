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
package org.apache.hadoop.hbase.fs;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.util.Threads;
import org.apache.hadoop.hdfs.ClientContext;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.client.HdfsClientConfigKeys;
import org.apache.hadoop.hdfs.util.ByteArrayManager;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * Makes the HDFS client reuse the buffers of its packets. All data written through
 * <code>DFSOutputStream</code>, mainly store files, is sent in packets of 64 KB, each with a buffer
 * of its own that becomes garbage when it is acknowledged. HDFS-7276 allows the client to reuse
 * them, <code>dfs.client.write.byte-array-manager.enabled</code>, which HDFS disables by default.
 * <p>
 * It is enabled here unless the operator disables it, and configured so that it cannot stall a
 * writer, the subject of HDFS-7358. HDFS counts the buffers in use; at
 * <code>dfs.client.write.byte-array-manager.count-limit</code> (2048 per size), an allocation waits
 * until a buffer is returned. That may never happen: a thread that splits a WAL keeps a half full
 * packet for each of its regions, and a file whose close fails never returns its last buffer. So
 * there is no limit unless the operator has set one. The number of free buffers, which the limit
 * bounds as well, is trimmed once a minute instead.
 */
@InterfaceAudience.Private
public final class HdfsPacketPool {
  private static final Logger LOG = LoggerFactory.getLogger(HdfsPacketPool.class);

  static final String ENABLED_KEY = HdfsClientConfigKeys.Write.ByteArrayManager.ENABLED_KEY;

  static final String LIMIT_KEY = HdfsClientConfigKeys.Write.ByteArrayManager.COUNT_LIMIT_KEY;

  static final String CONTEXT_KEY = HdfsClientConfigKeys.DFS_CLIENT_CONTEXT;

  /** Source of a value set by this class, so that it is not mistaken for the operator's. */
  static final String SOURCE = "set by the packet pool of this server";

  /**
   * The client context of a server. If several servers share a context, the first of them decides
   * whether it pools, and with which limit.
   */
  static final String OWN_CONTEXT = "hbase";

  private static final String HDFS_DEFAULTS = "hdfs-default.xml";

  /** Maximum number of bytes in free buffers, equal to HDFS's limit for 64 KB buffers. */
  private static final long MAX_FREE_BYTES = 128L << 20;

  /** Maximum fraction of the heap in free buffers: 1 / this value. */
  private static final int MAX_FREE_PART_OF_HEAP = 64;

  private static final long TRIM_PERIOD_SECONDS = 60;

  /** Minimum buffer size that the HDFS client pools, in bytes. */
  private static final int MIN_LENGTH = 32;

  /** The managers that are trimmed already, so that servers of one process do not do it twice. */
  private static final Set<ByteArrayManager> TRIMMED =
    Collections.newSetFromMap(new IdentityHashMap<>());

  private HdfsPacketPool() {
  }

  /**
   * Configures the client to pool, in {@code conf} and in this process, unless the operator has
   * disabled pooling. Must be called before the first HDFS file system is created from
   * {@code conf}: the client context, which has the pool, is created once per name and process, and
   * the name is set here, too.
   */
  public static void configure(Configuration conf) {
    try {
      // Required for hdfs-default.xml and hdfs-site.xml to be loaded into conf.
      HdfsConfiguration.init();
      if (!isSetByOperator(conf, ENABLED_KEY)) {
        conf.set(ENABLED_KEY, "true", SOURCE);
      }
      if (conf.getBoolean(ENABLED_KEY, false)) {
        start(conf);
      }
    } catch (LinkageError e) {
      LOG.warn("This HDFS client does not support pooling of packet buffers", e);
    }
  }

  private static void start(Configuration conf) {
    boolean unlimited = !isSetByOperator(conf, LIMIT_KEY);
    if (unlimited) {
      conf.set(LIMIT_KEY, String.valueOf(Integer.MAX_VALUE), SOURCE);
      if (!isSetByOperator(conf, CONTEXT_KEY)) {
        conf.set(CONTEXT_KEY, OWN_CONTEXT, SOURCE);
      }
    }
    // Creates the client context with this configuration, if it does not exist yet.
    ByteArrayManager manager = ClientContext.getFromConf(conf).getByteArrayManager();
    if (!isPooled(manager)) {
      LOG.warn("{} has no effect: this process has already created the HDFS client context '{}'"
        + " without a pool; set {} to another name", ENABLED_KEY, conf.get(CONTEXT_KEY),
        CONTEXT_KEY);
    } else if (unlimited) {
      trimEveryMinute(manager, maxLength(conf));
    }
  }

  /**
   * Returns whether {@code key} has a value in {@code conf} that is neither HDFS's default nor set
   * by this class.
   */
  static boolean isSetByOperator(Configuration conf, String key) {
    if (conf.getRaw(key) == null) {
      // Hadoop remembers the source of a value that was unset.
      return false;
    }
    String[] sources = conf.getPropertySources(key);
    // The first is the original source, the others are those it was copied through.
    return sources != null && sources.length > 0 && !SOURCE.equals(sources[0])
      && !sources[0].endsWith(HDFS_DEFAULTS);
  }

  /** Returns whether {@code manager} pools released buffers. */
  static boolean isPooled(ByteArrayManager manager) {
    // A manager without a pool returns 0 free buffers; one with a pool rejects this size.
    return manager.release(new byte[0]) < 0;
  }

  /** Returns the size of the buffer of a full packet in bytes. */
  private static int maxLength(Configuration conf) {
    int packetSize = conf.getInt(HdfsClientConfigKeys.DFS_CLIENT_WRITE_PACKET_SIZE_KEY,
      HdfsClientConfigKeys.DFS_CLIENT_WRITE_PACKET_SIZE_DEFAULT);
    return ByteArrayManager.leastPowerOfTwo(Math.max(MIN_LENGTH, packetSize));
  }

  private static synchronized void trimEveryMinute(ByteArrayManager manager, int largestLength) {
    if (!TRIMMED.add(manager)) {
      return;
    }
    long maxFreeBytes =
      Math.min(MAX_FREE_BYTES, Runtime.getRuntime().maxMemory() / MAX_FREE_PART_OF_HEAP);
    ScheduledExecutorService trimmer =
      Executors.newSingleThreadScheduledExecutor(new ThreadFactoryBuilder().setDaemon(true)
        .setNameFormat("HdfsPacketPool-trimmer-%d")
        .setUncaughtExceptionHandler(Threads.LOGGING_EXCEPTION_HANDLER).build());
    trimmer.scheduleWithFixedDelay(() -> trim(manager, largestLength, maxFreeBytes),
      TRIM_PERIOD_SECONDS, TRIM_PERIOD_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * Releases the free buffers in {@code manager} beyond {@code maxFreeBytes} to the garbage
   * collector, small buffers first. Released buffers count as in use forever, which has no effect
   * without a limit. Safe at any time: a writer that finds no free buffer allocates one.
   * @return the number of released bytes
   */
  static long trim(ByteArrayManager manager, int largestLength, long maxFreeBytes) {
    long kept = 0;
    long given = 0;
    try {
      for (int length = largestLength; length >= MIN_LENGTH; length /= 2) {
        long keep = (maxFreeBytes - kept) / length;
        byte[] buffer = manager.newByteArray(length);
        // The number of free buffers, including this one, which may just have been created and
        // stays; negative while this size is not pooled.
        int free = manager.release(buffer);
        for (; free > Math.max(keep, 1); free--) {
          manager.newByteArray(length);
          given += length;
        }
        kept += (long) Math.max(0, free) * length;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (given > 0) {
      LOG.debug("Released {} bytes of free packet buffers, kept {}", given, kept);
    }
    return given;
  }
}
