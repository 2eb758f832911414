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
package dev.stratum.jmh;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.List;
import java.util.Map;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Test;

public class TestSelection {
  /** The benchmarks in the format of the host. */
  private static final String LISTING = """
      [{"benchmark":"a.Cache.hit","mode":"AverageTime","forkOnly":false,
        "headline":["engine=file,size=8,64","engine=mmap,size=8"],"feature":"cache",
        "headlineWarmup":0,"headlineMeasurement":0,"forks":5,"millis":2400,
        "params":{"engine":["offheap","file","mmap"],"size":["8","32","64"]}},
       {"benchmark":"a.Cache.miss","mode":"AverageTime","forkOnly":false,"forks":5,"millis":2400,
        "params":{"engine":["offheap","file"]}},
       {"benchmark":"a.Wal.append","mode":"Throughput","forkOnly":true,"headline":[],
        "feature":"wal","headlineWarmup":2,"headlineMeasurement":4,"forks":3,
        "millis":1000,"params":{}}]
      """;

  private final Selection selection =
    new Selection(BenchmarkEntry.parse(JsonParser.parseString(LISTING).getAsJsonArray()));

  private List<String> chosen(String include, String params) {
    return selection.choose(include, params).stream().map(Trial::toString).toList();
  }

  private void assertRefused(String sentence, String include, String params) {
    assertEquals(sentence, assertThrows(IllegalArgumentException.class,
      () -> selection.choose(include, params)).getMessage());
  }

  @Test
  public void testWithoutAnExpressionTheHeadlineSetIsChosen() {
    assertEquals(List.of("Cache.hit engine=file size=8", "Cache.hit engine=file size=64",
      "Cache.hit engine=mmap size=8", "Wal.append"), chosen(null, null));
  }

  @Test
  public void testAnExpressionChoosesAllCombinationsOfWhatItIsFoundIn() {
    assertEquals(9 + 2, chosen("Cache", null).size());
    assertEquals(List.of("Cache.miss engine=offheap", "Cache.miss engine=file"),
      chosen("miss$", null));
  }

  @Test
  public void testParametersReplaceTheBenchmarksOwnValues() {
    assertEquals(List.of("Cache.hit engine=pmem size=8", "Cache.hit engine=pmem size=128"),
      chosen("hit", "engine=pmem,size=8,128"));
  }

  @Test
  public void testABenchmarkWithoutTheParameterKeepsItsOwn() {
    assertEquals(
      List.of("Cache.hit engine=file size=32", "Cache.miss engine=file"),
      chosen("Cache", "size=32,engine=file"));
  }

  @Test
  public void testParametersNarrowTheHeadlineSet() {
    assertEquals(List.of("Cache.hit engine=file size=8", "Cache.hit engine=mmap size=8",
      "Wal.append"), chosen(null, "size=8"));
  }

  @Test
  public void testAForkOnlyBenchmarkSaysSo() {
    assertEquals(List.of(true),
      selection.choose("append", null).stream().map(Trial::forkOnly).toList());
  }

  @Test
  public void testAChoiceForAnotherClassThatHasTheMethodIsNotTaken() {
    String listing = LISTING.replace("engine=mmap,size=8", "threads=8,size=8");
    Selection inherited =
      new Selection(BenchmarkEntry.parse(JsonParser.parseString(listing).getAsJsonArray()));
    assertEquals(
      List.of("Cache.hit engine=file size=8", "Cache.hit engine=file size=64", "Wal.append"),
      inherited.choose(null, null).stream().map(Trial::toString).toList());
  }

  @Test
  public void testTheHeadlineSetIsInTheOrderOfItsFeatures() {
    String listing = LISTING.replace("\"feature\":\"wal\"", "\"feature\":\"a-wal\"");
    Selection renamed =
      new Selection(BenchmarkEntry.parse(JsonParser.parseString(listing).getAsJsonArray()));
    assertEquals("Wal.append", renamed.choose(null, null).get(0).toString());
    assertEquals(4, renamed.choose(null, null).get(0).headline().measurement());
    assertEquals("given benchmarks run as they are", null,
      renamed.choose("append", null).get(0).headline());
  }

  @Test
  public void testAnExpressionThatMatchesNothingIsOneSentence() {
    assertRefused("jmh.include=Nothing matches none of the 3 benchmarks: -Djmh.list prints their"
      + " names", "Nothing", null);
  }

  @Test
  public void testABrokenExpressionIsOneSentence() {
    assertRefused("jmh.include=( is not a regular expression (Unclosed group): correct it", "(",
      null);
  }

  @Test
  public void testAParameterThatNoChosenBenchmarkHasIsOneSentence() {
    assertRefused("jmh.params=threads=4 sets 'threads', which none of the chosen benchmarks has:"
      + " use one of [engine, size]", "Cache", "threads=4");
  }

  @Test
  public void testParametersThatLeaveNothingOfTheHeadlineSetAreOneSentence() {
    Selection cacheOnly = new Selection(BenchmarkEntry
      .parse(JsonParser.parseString(LISTING).getAsJsonArray()).subList(0, 2));
    assertEquals("jmh.params=engine=pmem leaves nothing of the headline set: add"
      + " -Djmh.include=REGEX to run other parameter values than the set's",
      assertThrows(IllegalArgumentException.class, () -> cacheOnly.choose(null, "engine=pmem"))
        .getMessage());
  }

  @Test
  public void testWhatIsNoListOfParametersIsOneSentence() {
    for (String text : List.of("file", "=file", "engine=", "engine=file,,size=8", "")) {
      assertRefused("jmh.params=" + text + " is not a list of parameters: write"
        + " NAME=VALUE[,VALUE…][,NAME=VALUE…]", "Cache", text);
    }
  }

  @Test
  public void testAValueMayHoldAnEqualsSign() {
    assertEquals(Map.of("flag", List.of("a=b")), Selection.parseParams("jmh.params", "flag=a=b"));
  }
}
