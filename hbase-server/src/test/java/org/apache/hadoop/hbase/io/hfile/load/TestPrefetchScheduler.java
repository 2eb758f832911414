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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.bucket.SlowBucketCache;
import org.apache.hadoop.hbase.io.hfile.bucket.WriterQueues;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchMetrics.Count;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Files of a local file system that are prefetched by one thread or several. */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchScheduler {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchScheduler.class);

  private static final int QUEUE = 8192;
  /**
   * The limit in MB per second. After the first block, the next one waits longer than any test
   * lasts.
   */
  private static final String ONE_BLOCK_AT_MOST = "0.000001";

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final ReadLog log = new ReadLog();
  private PrefetchScheduler warmUps = new PrefetchScheduler();
  private final List<Path> written = new ArrayList<>();
  private final List<HFile.Reader> readers = new ArrayList<>();
  private volatile CountDownLatch stall = new CountDownLatch(1);
  private volatile CountDownLatch stalled;
  /** The file whose reads wait, null for all. */
  private volatile Path stalledFile;
  private volatile boolean interrupted;
  private volatile boolean broken;
  private ScheduledThreadPoolExecutor pool;
  private BlockCache cache;
  private FileSystem fs;

  @Before
  public void setUp() throws Exception {
    fs = log.over(files.fileSystem(), this::stall);
    cache = new SlowBucketCache(QUEUE, 0);
    pool = new ScheduledThreadPoolExecutor(1);
  }

  @After
  public void tearDown() throws Exception {
    stall.countDown();
    pool.shutdownNow();
    assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    for (HFile.Reader reader : readers) {
      reader.close(false);
    }
    closeCache();
  }

  /** Empties the cache. A block that is written after its file's eviction would stay. */
  private void closeCache() throws Exception {
    startWriters();
    CachedBlockFixture.awaitWriters(cache);
    written.forEach(path -> cache.evictBlocksByHfileName(path.getName()));
    cache.shutdown();
  }

  private void startWriters() {
    if (cache instanceof SlowBucketCache && ((SlowBucketCache) cache).isStuck()) {
      ((SlowBucketCache) cache).startWriting();
    }
  }

  /** Has reads wait once they are told to. */
  private void stall(Path path) throws IOException {
    if (broken) {
      throw new IOException("Broken");
    }
    CountDownLatch now = stalled;
    if (now == null || stalledFile != null && !path.equals(stalledFile)) {
      return;
    }
    now.countDown();
    try {
      assertTrue(stall.await(2, TimeUnit.MINUTES));
    } catch (InterruptedException e) {
      interrupted = true;
      throw new InterruptedIOException();
    }
  }

  private void configure(String... keysAndValues) {
    Configuration conf = new Configuration(false);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    warmUps.configure(conf);
  }

  private Path write(long created) throws IOException {
    Path path = files.write(CacheConfig.DISABLED,
      new HFileContextBuilder().withBlockSize(1024).withCreateTime(created).build());
    written.add(path);
    return path;
  }

  private FilePrefetch open(Path path) throws IOException {
    CacheConfig cacheConf = new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP);
    HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, files.conf());
    readers.add(reader);
    FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf, files.conf());
    assertNotNull(warmUp);
    return warmUp;
  }

  private ScheduledPrefetch schedule(FilePrefetch file) {
    return (ScheduledPrefetch) warmUps.schedule(pool, file, 0);
  }

  /** Has the only thread wait until the latch is counted down. */
  private CountDownLatch holdThread() {
    CountDownLatch hold = new CountDownLatch(1);
    pool.execute(() -> {
      try {
        hold.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    });
    return hold;
  }

  /** Prefetches files created at these times; returns them in the order of first data reads. */
  private List<Long> orderOfData(Long... created) throws Exception {
    List<FilePrefetch> warmUps = new ArrayList<>();
    for (Long time : created) {
      warmUps.add(open(write(time)));
    }
    log.clear();
    CountDownLatch hold = holdThread();
    List<ScheduledPrefetch> scheduled = new ArrayList<>();
    for (FilePrefetch warmUp : warmUps) {
      scheduled.add(schedule(warmUp));
      int waiting = scheduled.size();
      Waiter.waitFor(files.conf(), 120_000, 1, () -> this.warmUps.waiting().size() == waiting);
    }
    hold.countDown();
    for (Future<?> future : scheduled) {
      future.get(2, TimeUnit.MINUTES);
    }
    List<String> opened = log.opened();
    return opened.stream().map(name -> created[indexOf(name)]).collect(Collectors.toList());
  }

  private int indexOf(String name) {
    return written.stream().map(Path::getName).collect(Collectors.toList()).indexOf(name);
  }

  @Test
  public void testFilesAreWarmedAsRequestedUnlessToldOtherwise() throws Exception {
    assertEquals(Arrays.asList(20L, 30L, 10L), orderOfData(20L, 30L, 10L));
  }

  @Test
  public void testNewestFileIsWarmedFirstAndMetaOfAllFilesBeforeDataOfAny() throws Exception {
    configure(PrefetchSettings.ORDER_KEY, "newest");
    assertEquals(Arrays.asList(30L, 20L, 10L), orderOfData(20L, 30L, 10L));
    // The stream is opened for data.
    List<String> order = log.order();
    int firstData = order.stream().map(e -> e.startsWith("open ")).collect(Collectors.toList())
      .indexOf(true);
    assertEquals(3, order.subList(0, firstData).stream().distinct().count());
  }

  @Test
  public void testMetaOfFileThatComesLaterIsNotHeldUpByData() throws Exception {
    configure(PrefetchSettings.ORDER_KEY, "newest");
    FilePrefetch old = open(write(10));
    FilePrefetch late = open(write(20));
    CountDownLatch hold = holdThread();
    ScheduledPrefetch first = schedule(old);
    CompletableFuture<ScheduledPrefetch> second = new CompletableFuture<>();
    CompletableFuture<FilePrefetch.Phase> next = new CompletableFuture<>();
    old.setPace((file, bytes) -> {
      boolean isFirst = file.phase() == FilePrefetch.Phase.DATA && !second.isDone();
      if (isFirst) {
        second.complete(schedule(late));
        Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().contains(late));
      }
      first.beforeRead(file, bytes);
      if (isFirst) {
        next.complete(late.phase());
      }
    });
    hold.countDown();
    assertEquals("before the first data block of the other file is read",
      FilePrefetch.Phase.DATA, next.get(2, TimeUnit.MINUTES));
    first.get(2, TimeUnit.MINUTES);
    second.get().get(2, TimeUnit.MINUTES);
    assertEquals(FilePrefetch.Outcome.COMPLETE, old.outcome());
    assertEquals(FilePrefetch.Outcome.COMPLETE, late.outcome());
  }

  @Test
  public void testOrderCanBeChangedWhileFilesWait() throws Exception {
    FilePrefetch old = open(write(10));
    FilePrefetch young = open(write(20));
    CountDownLatch hold = holdThread();
    Future<?> first = schedule(old);
    Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().size() == 1);
    Future<?> last = schedule(young);
    Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().size() == 2);
    assertEquals(Arrays.asList(old, young), warmUps.waiting());
    configure(PrefetchSettings.ORDER_KEY, "newest");
    assertEquals(Arrays.asList(young, old), warmUps.waiting());
    hold.countDown();
    first.get(2, TimeUnit.MINUTES);
    last.get(2, TimeUnit.MINUTES);
  }

  @Test
  public void testThreadsTogetherReadNoMoreThanTheLimit() throws Exception {
    configure(PrefetchSettings.LIMIT_KEY, ONE_BLOCK_AT_MOST);
    CountDownLatch hold = holdThread();
    AtomicInteger asked = new AtomicInteger();
    List<ScheduledPrefetch> scheduled = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      scheduled.add(scheduleAndCount(open(write(i)), asked));
    }
    pool.setCorePoolSize(4);
    hold.countDown();
    // Each file asks for its first block, and the one that has read it for its next.
    Waiter.waitFor(files.conf(), 120_000, 1, () -> asked.get() == 5);
    assertEquals(1, scheduled.stream().mapToLong(each -> each.file().prefetchedBlocks()).sum());
    configure();
    for (ScheduledPrefetch each : scheduled) {
      each.get(2, TimeUnit.MINUTES);
      assertEquals(each.file().plannedBytes(), each.file().prefetchedBytes());
    }
  }

  @Test
  public void testFilesWithBlocksInCommonAreReadOnce() throws Exception {
    pool.setCorePoolSize(4);
    for (String order : new String[] { "request", "newest" }) {
      configure(PrefetchSettings.ORDER_KEY, order);
      // Two daughters of a split share a file, and so do links to it in several clones.
      Path path = write(1);
      List<FilePrefetch> opened = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        opened.add(open(path));
      }
      stall = new CountDownLatch(1);
      stalledFile = path;
      stalled = new CountDownLatch(1);
      List<ScheduledPrefetch> scheduled =
        opened.stream().map(this::schedule).collect(Collectors.toList());
      Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().size() == 3);
      // It is not held up by them.
      schedule(open(write(2))).get(2, TimeUnit.MINUTES);
      stalled = null;
      stall.countDown();
      for (Future<?> future : scheduled) {
        future.get(2, TimeUnit.MINUTES);
      }
      assertEquals(scheduled.get(0).file().plannedBytes(),
        scheduled.stream().mapToLong(warmUp -> warmUp.file().prefetchedBytes()).sum());
      scheduled.forEach(
        warmUp -> assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.file().outcome()));
    }
  }

  @Test
  public void testReadThatHangsHoldsUpFilesWithItsBlocksForSoLongOnly() throws Exception {
    PrefetchScheduler limited = new PrefetchScheduler(TimeUnit.MILLISECONDS.toNanos(200), 0);
    pool.setCorePoolSize(3);
    Path path = write(1);
    FilePrefetch hanging = open(path);
    List<FilePrefetch> others = Arrays.asList(open(path), open(path));
    stalled = new CountDownLatch(1);
    Future<?> first = limited.schedule(pool, hanging, 0);
    assertTrue(stalled.await(2, TimeUnit.MINUTES));
    // No other read hangs.
    stalled = null;
    List<Future<?>> scheduled = new ArrayList<>();
    others.forEach(other -> scheduled.add(limited.schedule(pool, other, 0)));
    for (Future<?> future : scheduled) {
      future.get(2, TimeUnit.MINUTES);
    }
    others.forEach(other -> assertEquals(FilePrefetch.Outcome.COMPLETE, other.outcome()));
    assertFalse(first.isDone());
    // Reads of the others may be overdue as well if the machine is busy.
    Waiter.waitFor(files.conf(), 120_000, 100,
      () -> limited.progress().overdueReads() >= 1);
    stall.countDown();
    first.get(2, TimeUnit.MINUTES);
    assertEquals(FilePrefetch.Outcome.COMPLETE, hanging.outcome());
    assertEquals(0, hanging.readNanos());
  }

  @Test
  public void testAllFilesEndWhenTheCacheIsFull() throws Exception {
    cache.shutdown();
    AtomicInteger room = new AtomicInteger(10);
    cache = new SlowBucketCache(QUEUE, 0) {
      @Override
      public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
        return Optional.of(room.getAndDecrement() > 0);
      }
    };
    pool.setCorePoolSize(4);
    List<ScheduledPrefetch> scheduled = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      Path path = write(i);
      scheduled.add(schedule(open(path)));
      if (i % 3 == 0) {
        // This is a link, which waits for the other one.
        scheduled.add(schedule(open(path)));
      }
    }
    for (ScheduledPrefetch warmUp : scheduled) {
      warmUp.get(2, TimeUnit.MINUTES);
      assertEquals(FilePrefetch.Outcome.NO_SPACE, warmUp.file().outcome());
    }
    Waiter.waitFor(files.conf(), 120_000, 100,
      () -> warmUps.progress().get(Count.NoSpaceFileCount) == scheduled.size());
    assertEquals(0, warmUps.waiting().size());
  }

  /** Schedules a file and counts how often it asks before it reads a block. */
  private ScheduledPrefetch scheduleAndCount(FilePrefetch file, AtomicInteger asked) {
    ScheduledPrefetch scheduled = schedule(file);
    file.setPace((of, bytes) -> {
      asked.incrementAndGet();
      scheduled.beforeRead(of, bytes);
    });
    return scheduled;
  }

  private ScheduledPrefetch scheduleHeld(FilePrefetch file, AtomicInteger asked) {
    CountDownLatch hold = holdThread();
    ScheduledPrefetch scheduled = scheduleAndCount(file, asked);
    hold.countDown();
    return scheduled;
  }

  /** Checks that what a file waits for, five times over, only happens if it is cancelled. */
  private void assertCancelEnds(Callable<ScheduledPrefetch> begin) throws Exception {
    int times = 5;
    for (int i = 0; i < times; i++) {
      ScheduledPrefetch warmUp = begin.call();
      long blocks = warmUp.file().prefetchedBlocks();
      assertTrue(warmUp.cancel(true));
      assertTrue(warmUp.isDone());
      assertTrue("not over after two minutes", warmUp.awaitEnd(120_000));
      assertEquals("nothing more is read", blocks, warmUp.file().prefetchedBlocks());
      assertFalse(warmUp.cancel(true));
      stalled = null;
    }
    // The threads are there for the next one, and none was interrupted for good.
    configure();
    startWriters();
    ScheduledPrefetch next = schedule(open(write(1)));
    next.get(2, TimeUnit.MINUTES);
    assertEquals(FilePrefetch.Outcome.COMPLETE, next.file().outcome());
    Waiter.waitFor(files.conf(), 120_000, 1,
      () -> warmUps.progress().get(Count.CancelledFileCount) == times);
  }

  @Test
  public void testCancelEndsWaitForTheLimit() throws Exception {
    configure(PrefetchSettings.LIMIT_KEY, ONE_BLOCK_AT_MOST);
    // The first file reads a block, the others none.
    AtomicInteger begun = new AtomicInteger();
    assertCancelEnds(() -> {
      AtomicInteger asked = new AtomicInteger();
      ScheduledPrefetch warmUp = scheduleHeld(open(write(1)), asked);
      int waits = begun.getAndIncrement() == 0 ? 2 : 1;
      Waiter.waitFor(files.conf(), 120_000, 1, () -> asked.get() == waits);
      assertFalse(warmUp.isDone());
      return warmUp;
    });
  }

  private ScheduledPrefetch scheduleStalled() throws Exception {
    FilePrefetch file = open(write(1));
    stalled = new CountDownLatch(1);
    ScheduledPrefetch warmUp = schedule(file);
    assertTrue(stalled.await(2, TimeUnit.MINUTES));
    return warmUp;
  }

  @Test
  public void testCancelEndsReadThatIsInFlight() throws Exception {
    assertCancelEnds(this::scheduleStalled);
    assertTrue(interrupted);
  }

  @Test
  public void testReadThatEndsByItselfIsNotInterrupted() throws Exception {
    warmUps = new PrefetchScheduler(Long.MAX_VALUE, TimeUnit.HOURS.toMillis(1));
    ScheduledPrefetch warmUp = scheduleStalled();
    assertTrue(warmUp.cancel(true));
    stall.countDown();
    assertTrue(warmUp.awaitEnd(120_000));
    // The scheduler interrupts a read whose time is over, but this read has ended.
    warmUp.interrupt();
    assertFalse(interrupted);
    assertFalse(pool.submit(() -> Thread.interrupted()).get(2, TimeUnit.MINUTES));
  }

  /** A read that does not end by it leaves the interruption to whatever the thread does next. */
  @Test
  public void testInterruptionOfACancelledFileIsNotForOneThatComesInBetween() throws Exception {
    configure(PrefetchSettings.ORDER_KEY, "newest");
    CountDownLatch hold = holdThread();
    ScheduledPrefetch first = schedule(open(write(1)));
    FilePrefetch later = open(write(2));
    CompletableFuture<ScheduledPrefetch> inBetween = new CompletableFuture<>();
    first.file().setPace((file, bytes) -> {
      if (file.phase() == FilePrefetch.Phase.DATA && !inBetween.isDone()) {
        inBetween.complete(schedule(later));
        Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().contains(later));
        assertTrue(first.cancel(true));
        while (!Thread.currentThread().isInterrupted()) {
          Thread.yield();
        }
        // The next read sees the interrupt.
        stall.countDown();
        stalled = new CountDownLatch(1);
      }
      first.beforeRead(file, bytes);
    });
    hold.countDown();
    assertTrue(inBetween.get(2, TimeUnit.MINUTES).awaitEnd(120_000));
    assertEquals(FilePrefetch.Outcome.COMPLETE, later.outcome());
    assertTrue(first.awaitEnd(120_000));
    assertEquals(FilePrefetch.Outcome.CANCELLED, first.file().outcome());
  }

  @Test
  public void testCancelEndsWaitForTheWriters() throws Exception {
    cache.shutdown();
    cache = new SlowBucketCache(8, -1);
    configure(PrefetchSettings.QUEUE_MAX_KEY, "0.5");
    // The first file fills five of eight places of the queue.
    AtomicInteger begun = new AtomicInteger();
    assertCancelEnds(() -> {
      AtomicInteger asked = new AtomicInteger();
      ScheduledPrefetch warmUp = scheduleHeld(open(write(1)), asked);
      int blocks = begun.getAndIncrement() == 0 ? 5 : 0;
      Waiter.waitFor(files.conf(), 120_000, 1, () -> asked.get() == blocks + 1);
      assertFalse(warmUp.isDone());
      assertEquals(blocks, warmUp.file().prefetchedBlocks());
      return warmUp;
    });
  }

  @Test
  public void testFileThatWaitsForItsTurnIsCancelledWithoutBeingRead() throws Exception {
    CountDownLatch hold = holdThread();
    ScheduledPrefetch warmUp = schedule(open(write(1)));
    Waiter.waitFor(files.conf(), 120_000, 1, () -> warmUps.waiting().size() == 1);
    assertTrue(warmUp.cancel(true));
    assertTrue(warmUp.awaitEnd(0));
    assertEquals(0, warmUps.waiting().size());
    hold.countDown();
    schedule(open(write(2))).get(2, TimeUnit.MINUTES);
    assertEquals(0, warmUp.file().prefetchedBlocks());
    assertNull(warmUp.file().outcome());
  }

  /** Four files are scheduled while nothing is written. */
  @Test
  public void testBlocksAreDroppedUnlessWarmUpWaitsForTheWriters() throws Exception {
    for (String queueMax : new String[] { "1", "0.5" }) {
      boolean waits = queueMax.equals("0.5");
      closeCache();
      cache = new SlowBucketCache(16, -1);
      configure(PrefetchSettings.QUEUE_MAX_KEY, queueMax);
      pool.setCorePoolSize(4);
      List<ScheduledPrefetch> scheduled = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        scheduled.add(schedule(open(write(i))));
      }
      Waiter.waitFor(files.conf(), 120_000, 1,
        () -> waits ? WriterQueues.fill(cache) > 0.5 : cache.getStats().getFailedInserts() > 0);
      ((SlowBucketCache) cache).startWriting();
      for (ScheduledPrefetch each : scheduled) {
        each.get(2, TimeUnit.MINUTES);
      }
      assertEquals(waits, cache.getStats().getFailedInserts() == 0);
    }
  }

  @Test
  public void testFilesAreCountedByHowTheyEnded() throws Exception {
    Path path = write(1);
    schedule(open(path)).get(2, TimeUnit.MINUTES);
    Waiter.waitFor(files.conf(), 120_000, () -> cache.getBlockCount() > 0
      && WriterQueues.fill(cache) == 0);
    schedule(open(path)).get(2, TimeUnit.MINUTES);
    FilePrefetch unreadable = open(write(2));
    broken = true;
    schedule(unreadable).get(2, TimeUnit.MINUTES);
    PrefetchProgress total = warmUps.progress();
    assertEquals(1, total.get(Count.PrefetchedFileCount));
    assertEquals(1, total.get(Count.CachedFileCount));
    assertEquals(1, total.get(Count.FailedFileCount));
    assertEquals(0, total.get(Count.QueuedFileCount));
    assertEquals(0, total.get(Count.QueuedBytes));
    assertTrue(total.get(Count.PrefetchedBytes) > 0);
    assertEquals(total.get(Count.PrefetchedBytes), total.get(Count.CachedBytes));
  }

  @Test
  public void testProgressIsThatOfFilesInProgressAndOfThoseThatEnded() throws Exception {
    // Nothing ticks but this test.
    CountDownLatch hold = holdThread();
    PrefetchProgress progress = new PrefetchProgress(pool, () -> 50L << 20);
    FilePrefetch file = open(write(1));
    progress.begun(file);
    assertEquals(file.plannedBytes(), progress.get(Count.QueuedBytes));
    String line = progress.tick();
    assertTrue(line, line.startsWith("Prefetch: 1 files with "));
    assertTrue(line, line.endsWith(
      "(limit 50 MB/s); read 0 B since the start, skipped 0 B as already cached"));
    file.run();
    assertEquals(file.prefetchedBytes(), progress.get(Count.PrefetchedBytes));
    assertEquals(1, progress.get(Count.QueuedFileCount));
    assertEquals(0, progress.get(Count.PrefetchedFileCount));
    progress.waitedForWriters(TimeUnit.MILLISECONDS.toNanos(5));
    progress.ended(file, false);
    progress.ended(file, false);
    assertEquals(file.prefetchedBytes(), progress.get(Count.PrefetchedBytes));
    assertEquals(0, progress.get(Count.QueuedFileCount));
    assertEquals(1, progress.get(Count.PrefetchedFileCount));
    assertEquals(5, progress.waitedMillis());
    line = progress.tick();
    assertTrue(line, line.startsWith("Prefetch: 0 files with 0 B left (limit 50 MB/s); read "));
    hold.countDown();
  }

  /** Rounds of many files of which every other is cancelled at some moment, under each order. */
  @Test
  public void testEveryFileEndsWhateverIsCancelledOrChangedMeanwhile() throws Exception {
    Random random = new Random(23);
    List<Path> paths = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      paths.add(write(random.nextInt(100)));
    }
    int cancelled = 0;
    int all = 0;
    for (int round = 0; round < 6; round++) {
      pool.setCorePoolSize(new int[] { 1, 4, 13 }[round % 3]);
      List<ScheduledPrefetch> scheduled = new ArrayList<>();
      configure(PrefetchSettings.LIMIT_KEY, ONE_BLOCK_AT_MOST);
      for (Path path : paths) {
        scheduled.add(schedule(open(path)));
      }
      assertTrue(scheduled.get(0).cancel(true));
      cancelled++;
      for (int i = 0; i < scheduled.size(); i++) {
        String order = i % 3 == 0 ? "request" : "newest";
        configure(PrefetchSettings.ORDER_KEY, order, PrefetchSettings.LIMIT_KEY,
          Integer.toString(random.nextInt(3)));
        Thread.sleep(random.nextInt(4));
        if (i % 2 == 0 && scheduled.get(i).cancel(true)) {
          cancelled++;
        }
      }
      configure();
      for (ScheduledPrefetch warmUp : scheduled) {
        assertTrue(warmUp.file().toString(), warmUp.awaitEnd(120_000));
        all++;
        if (!warmUp.isCancelled()) {
          assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.file().outcome());
        }
      }
      Waiter.waitFor(files.conf(), 120_000, 1, () -> pool.getActiveCount() == 0);
      assertEquals(0, warmUps.waiting().size());
      Waiter.waitFor(files.conf(), 120_000, 1, () -> WriterQueues.fill(cache) == 0);
      paths.forEach(path -> cache.evictBlocksByHfileName(path.getName()));
    }
    Waiter.waitFor(files.conf(), 120_000, 100,
      () -> warmUps.progress().get(Count.QueuedFileCount) == 0);
    PrefetchProgress total = warmUps.progress();
    assertEquals(cancelled, total.get(Count.CancelledFileCount));
    assertEquals(0, total.get(Count.FailedFileCount));
    assertEquals(all, total.get(Count.PrefetchedFileCount) + total.get(Count.CachedFileCount)
      + total.get(Count.CancelledFileCount));
  }
}
