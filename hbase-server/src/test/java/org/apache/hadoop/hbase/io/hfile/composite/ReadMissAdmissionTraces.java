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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertEquals;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.AfterClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What {@link ReadMissAdmission} costs in hits and warm-up, and what it saves of a device's writes,
 * on traces of block reads: beside the same tier without it. The tier is a model of L2 on segments:
 * first in, first out, a two-hundredth at a time, of which a quarter is written again if it was
 * read since. Blocks are of one size, so that blocks stand for bytes. The table is logged at the
 * end. This measures, and no build runs it:
 *
 * <pre>
 * mvn -pl hbase-server surefire:test -Dtest=ReadMissAdmissionTraces
 * </pre>
 *
 * Targets, with the filter beside without it: zipfian reads hit as often less half a point, write
 * 0.8 times as much, and are warm after 1.3 times as many reads; beside a scan, they hit as often
 * as without the scan less two points, and write 0.3 times as much; a hot set that moves is warm
 * after three times as many reads, and writes less until then; of blocks that are read once, a
 * tenth is written.
 */
@Category({ IOTests.class, MediumTests.class })
public class ReadMissAdmissionTraces {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(ReadMissAdmissionTraces.class);

  private static final Logger LOG =
    LoggerFactory.getLogger(ReadMissAdmissionTraces.class);

  private static final int TIER = 20_000;
  private static final int SEGMENT = TIER / 200;
  private static final int REWRITTEN = SEGMENT / 4;
  private static final int READS = 60 * TIER;
  /** Reads over which the hit ratio is taken while the tier becomes warm. */
  private static final int WINDOW = TIER / 2;
  private static final int MAX_ACCESS = 3;

  private static final StringBuffer TABLE = new StringBuffer();

  private static final class Tier {
    private final byte[] access;
    private final BitSet stored;
    private final ArrayDeque<Integer> order = new ArrayDeque<>();
    private final ReadMissAdmission admission =
      new ReadMissAdmission(TIER, () -> order() < TIER - SEGMENT);
    private long written;

    Tier(int blocks, boolean secondMissOnly) {
      access = new byte[blocks];
      stored = new BitSet(blocks);
      admission.setSecondMissOnly(secondMissOnly);
    }

    private int order() {
      return order.size();
    }

    /** Reads a block and returns whether it was stored. */
    boolean read(int block) {
      if (stored.get(block)) {
        access[block] = (byte) Math.min(MAX_ACCESS, access[block] + 1);
        return true;
      }
      if (admission.admits(new BlockCacheKey("trace", block))) {
        written++;
        stored.set(block);
        access[block] = 1;
        order.add(block);
        if (order.size() == TIER) {
          reclaim();
        }
      }
      return false;
    }

    private void reclaim() {
      int kept = 0;
      for (int i = 0; i < SEGMENT; i++) {
        int block = order.poll();
        if (access[block] > 1 && kept < REWRITTEN) {
          kept++;
          written++;
          access[block] = 1;
          order.add(block);
        } else {
          stored.clear(block);
        }
      }
    }

    /** Reads a part of a trace and returns the share of hits. */
    double read(int[] trace, int from, int to) {
      int hits = 0;
      for (int i = from; i < to; i++) {
        hits += read(trace[i]) ? 1 : 0;
      }
      return (double) hits / (to - from);
    }
  }

  private static int[] zipf(int blocks) {
    Random random = new Random(42);
    int[] permutation = new int[blocks];
    double[] cumulative = new double[blocks];
    double sum = 0;
    for (int rank = 0; rank < blocks; rank++) {
      int other = random.nextInt(rank + 1);
      permutation[rank] = permutation[other];
      permutation[other] = rank;
      sum += Math.pow(rank + 1, -0.99);
      cumulative[rank] = sum;
    }
    int[] trace = new int[READS];
    for (int i = 0; i < READS; i++) {
      int found = Arrays.binarySearch(cumulative, random.nextDouble() * sum);
      trace[i] = permutation[Math.min(found < 0 ? -found - 1 : found, blocks - 1)];
    }
    return trace;
  }

  /** Returns the share of hits in the second half of a trace. */
  private static double steadyRatio(Tier tier, int[] trace) {
    tier.read(trace, 0, READS / 2);
    return tier.read(trace, READS / 2, READS);
  }

  /** Returns after how many reads of a trace the tier has this share of hits. */
  private static int warmUp(Tier tier, int[] trace, double ratio) {
    boolean[] window = new boolean[WINDOW];
    int hits = 0;
    for (int i = 0; i < READS; i++) {
      hits -= window[i % WINDOW] ? 1 : 0;
      window[i % WINDOW] = tier.read(trace[i]);
      hits += window[i % WINDOW] ? 1 : 0;
      if (i >= WINDOW && hits >= ratio * WINDOW) {
        return i;
      }
    }
    throw new AssertionError("never warm");
  }

  private static void log(String trace, String figure, double without, double with) {
    TABLE.append(
      String.format("%n| %-30s | %-44s | %10.2f | %10.2f |", trace, figure, without, with));
  }

  @AfterClass
  public static void logTable() {
    LOG.info("The tier without and with the filter{}{}",
      String.format("%n| %-30s | %-44s | %10s | %10s |", "trace", "figure", "all", "second-miss"),
      TABLE);
  }

  @Test
  public void testZipfianReadsHitAsOftenAndTheTierIsWarmAsSoon() {
    for (int factor : new int[] { 2, 5, 20 }) {
      String name = "zipf 0.99, " + factor + " x L2";
      int blocks = factor * TIER;
      int[] trace = zipf(blocks);
      Tier all = new Tier(blocks, false);
      Tier filtered = new Tier(blocks, true);
      double steady = steadyRatio(all, trace);
      double filteredSteady = steadyRatio(filtered, trace);
      log(name, "hits per hundred reads", 100 * steady, 100 * filteredSteady);
      log(name, "blocks written, of L2", (double) all.written / TIER,
        (double) filtered.written / TIER);
      double warm = warmUp(new Tier(blocks, false), trace, 0.95 * steady);
      double filteredWarm = warmUp(new Tier(blocks, true), trace, 0.95 * steady);
      log(name, "reads to 0.95 of the hits of all, of L2", warm / TIER, filteredWarm / TIER);
      log(name, "reads to 0.95 of its own hits, of L2", warm / TIER,
        (double) warmUp(new Tier(blocks, true), trace, 0.95 * filteredSteady) / TIER);
    }
  }

  @Test
  public void testScanOfTenTiersBesideZipfianReads() {
    int blocks = 5 * TIER;
    int scan = 10 * TIER;
    int[] trace = zipf(blocks);
    int from = READS / 2;
    for (int each : new int[] { 1, 2 }) {
      String name = "zipf 0.99, " + each + " of scan to 1 read";
      int to = from + scan / each;
      Tier all = new Tier(blocks + scan, false);
      Tier filtered = new Tier(blocks + scan, true);
      Tier allUndisturbed = new Tier(blocks + scan, false);
      Tier undisturbed = new Tier(blocks + scan, true);
      for (Tier tier : new Tier[] { all, filtered, allUndisturbed, undisturbed }) {
        tier.read(trace, 0, from);
        tier.written = 0;
      }
      double allRatio = withScan(all, trace, from, to, blocks, each);
      double ratio = withScan(filtered, trace, from, to, blocks, each);
      double allWithout = allUndisturbed.read(trace, from, to);
      double without = undisturbed.read(trace, from, to);
      log(name, "hits per hundred reads", 100 * allRatio, 100 * ratio);
      log(name, "hits per hundred reads without the scan", 100 * allWithout, 100 * without);
      log(name, "blocks written, of L2", (double) all.written / TIER,
        (double) filtered.written / TIER);
    }
  }

  /** The price is that each of the blocks that are read now has to be missed twice. */
  @Test
  public void testHotSetThatMovesNeedsMoreReadsAndFewerWrites() {
    String name = "zipf 0.99, other blocks hot";
    int blocks = 5 * TIER;
    int[] trace = zipf(blocks);
    int[] moved = Arrays.stream(trace).map(block -> (block + blocks / 2) % blocks).toArray();
    double steady = steadyRatio(new Tier(blocks, false), trace);
    int[] reads = new int[2];
    long[] written = new long[2];
    for (int i = 0; i < 2; i++) {
      Tier tier = new Tier(blocks, i == 1);
      tier.read(trace, 0, READS);
      tier.written = 0;
      reads[i] = warmUp(tier, moved, 0.95 * steady);
      written[i] = tier.written;
    }
    log(name, "reads to 0.95 of the hits of all, of L2", (double) reads[0] / TIER,
      (double) reads[1] / TIER);
    log(name, "blocks written until then, of L2", (double) written[0] / TIER,
      (double) written[1] / TIER);
  }

  /** Reads a trace beside a scan, and returns the share of hits of the trace's reads. */
  private static double withScan(Tier tier, int[] trace, int from, int to, int scanned, int each) {
    int hits = 0;
    int next = scanned;
    for (int i = from; i < to; i++) {
      for (int j = 0; j < each; j++) {
        tier.read(next++);
      }
      hits += tier.read(trace[i]) ? 1 : 0;
    }
    return (double) hits / (to - from);
  }

  @Test
  public void testUniformReadsOfBlocksThatAreReadOnce() {
    int blocks = 21 * TIER;
    for (boolean empty : new boolean[] { false, true }) {
      String name = empty ? "once, 20 x L2, empty at first" : "once, 20 x L2";
      long[] written = new long[2];
      for (int i = 0; i < 2; i++) {
        Tier tier = new Tier(blocks, i == 1);
        for (int block = 20 * TIER; !empty && block < blocks; block++) {
          tier.read(block);
        }
        tier.written = 0;
        for (int block = 0; block < 20 * TIER; block++) {
          tier.read(block);
        }
        written[i] = tier.written;
      }
      assertEquals(20 * TIER, written[0]);
      log(name, "blocks written, of L2", (double) written[0] / TIER, (double) written[1] / TIER);
    }
  }
}
