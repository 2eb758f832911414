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
package org.apache.hadoop.hbase.regionserver.http;

import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.io.hfile.composite.ReadLatencyHistogram;
import org.apache.hadoop.hbase.io.hfile.composite.TierHistory;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.gson.stream.JsonWriter;

/**
 * The tiers of the block cache as JSON. The format is described in docs/metrics.md; fields may be
 * added, existing ones keep their names, units and meaning.
 */
@InterfaceAudience.Private
final class BlockCacheTiersJson {

  private BlockCacheTiersJson() {
  }

  /** Returns the response of a server without tiers. */
  static String withoutTiers() {
    return "{\"enabled\":false}";
  }

  static String of(String server, long time, CompositeBucketCacheMetrics metrics,
    List<TableUse> tables) {
    StringWriter text = new StringWriter();
    try (JsonWriter json = new JsonWriter(text)) {
      // A client that renders it as HTML by mistake shows text.
      json.setHtmlSafe(true);
      json.beginObject();
      json.name("enabled").value(true);
      json.name("server").value(server);
      json.name("time").value(time);
      json.name("tiers").beginArray();
      for (CompositeBucketCacheMetrics.Tier tier : metrics.getTiers()) {
        write(json, tier);
      }
      json.endArray();
      json.name("history").beginArray();
      for (TierHistory.Sample sample : metrics.getHistory().getSamples()) {
        write(json, sample);
      }
      json.endArray();
      json.name("tables").beginArray();
      for (TableUse use : tables) {
        write(json, use);
      }
      json.endArray();
      json.endObject();
    } catch (IOException e) {
      throw new IllegalStateException("Writing to memory failed", e);
    }
    return text.toString();
  }

  private static void write(JsonWriter json, CompositeBucketCacheMetrics.Tier tier)
    throws IOException {
    json.beginObject();
    json.name("name").value(tier.getName());
    json.name("ioEngine").value(tier.getIoEngine());
    json.name("metrics").beginObject();
    for (Map.Entry<String, Long> value : tier.getValues().entrySet()) {
      String name = value.getKey();
      json.name(Character.toLowerCase(name.charAt(0)) + name.substring(1)).value(value.getValue());
    }
    json.endObject();
    ReadLatencyHistogram.Summary reads = tier.getReadLatencies().getSummary();
    json.name("readNanos").beginObject();
    json.name("timed").value(reads.getCount());
    json.name("median").value(reads.getMedian());
    json.name("p95").value(reads.getP95());
    json.name("p99").value(reads.getP99());
    json.name("p999").value(reads.getP999());
    json.name("max").value(reads.getMax());
    json.endObject();
    json.endObject();
  }

  private static void write(JsonWriter json, TierHistory.Sample sample) throws IOException {
    json.beginObject();
    json.name("time").value(sample.getTime());
    json.name("millis").value(sample.getMillis());
    json.name("l1Hits").value(sample.get(TierHistory.Count.FIRST_HITS));
    json.name("l2Hits").value(sample.get(TierHistory.Count.SECOND_HITS));
    json.name("misses").value(sample.get(TierHistory.Count.MISSES));
    json.name("promotions").value(sample.get(TierHistory.Count.PROMOTIONS));
    json.name("rejectedPromotions").value(sample.get(TierHistory.Count.REJECTED_PROMOTIONS));
    json.name("demotions").value(sample.get(TierHistory.Count.DEMOTIONS));
    json.endObject();
  }

  private static void write(JsonWriter json, TableUse use) throws IOException {
    json.beginObject();
    json.name("table").value(use.getTable());
    String[] tiers = { "l1", "l2" };
    for (int i = 0; i < tiers.length; i++) {
      json.name(tiers[i] + "Bytes").value(use.getBytes(i));
      json.name(tiers[i] + "Blocks").value(use.getBlocks(i));
      json.name(tiers[i] + "Files").value(use.getFiles(i));
    }
    json.endObject();
  }
}
