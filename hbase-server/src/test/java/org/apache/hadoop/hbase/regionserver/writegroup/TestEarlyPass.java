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
package org.apache.hadoop.hbase.regionserver.writegroup;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestEarlyPass {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestEarlyPass.class);

  private final WritesInFlight.Lane lane = new WritesInFlight().at(1);
  private final List<String> passed = new ArrayList<>();

  private EarlyPass group(String name) {
    return new EarlyPass(lane, () -> passed.add(name));
  }

  private void assertPassed(String... names) {
    assertEquals(Arrays.asList(names), passed);
  }

  @Test
  public void testNextIsFormedDuringASyncAndThoseBehindItWait() {
    EarlyPass a = group("a");
    EarlyPass b = group("b");
    EarlyPass c = group("c");
    a.run();
    assertPassed("a");
    b.run();
    assertPassed("a");
    a.end();
    assertPassed("a", "b");
    c.run();
    assertPassed("a", "b");
    b.end();
    assertPassed("a", "b", "c");
    c.end();
    EarlyPass d = group("d");
    d.run();
    assertPassed("a", "b", "c", "d");
    d.end();
  }

  @Test
  public void testGroupThatEndsBeforeTheOneInFrontOfIt() {
    EarlyPass a = group("a");
    EarlyPass b = group("b");
    a.run();
    b.run();
    // Its end runs what was deferred; the leader itself passes on once, whoever does it first.
    b.end();
    assertPassed("a", "b");
    a.end();
    assertPassed("a", "b");
  }

  @Test
  public void testGroupThatWasNotAppendedIsNotCounted() {
    group("failed").end();
    EarlyPass a = group("a");
    a.run();
    assertPassed("a");
    a.end();
  }

  @Test
  public void testPassThatFailsDoesNotFailTheAppend() {
    EarlyPass a = new EarlyPass(lane, () -> {
      throw new IllegalStateException("no thread");
    });
    a.run();
    EarlyPass b = new EarlyPass(lane, () -> {
      throw new OutOfMemoryError();
    });
    b.run();
    a.end();
    b.end();
    EarlyPass c = group("c");
    c.run();
    assertPassed("c");
    c.end();
  }
}
