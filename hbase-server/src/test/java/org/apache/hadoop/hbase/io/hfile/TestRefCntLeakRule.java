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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertThrows;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.RefCnt;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/** The rule finds what a test has leaked, of any test of a class, and nothing else. */
@Category({ IOTests.class, SmallTests.class })
public class TestRefCntLeakRule {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRefCntLeakRule.class);

  private static final AtomicInteger LEAKS = new AtomicInteger();

  @Test
  public void testEachLeakIsThatOfItsTest() throws Throwable {
    run(TestRefCntLeakRule::balanced);
    for (int i = 0; i < 3; i++) {
      assertThrows(AssertionError.class, () -> run(TestRefCntLeakRule::leak));
      run(TestRefCntLeakRule::balanced);
    }
  }

  @Test
  public void testLeakOfAFailedTestIsNotThatOfTheNext() throws Throwable {
    run(TestRefCntLeakRule::balanced);
    assertThrows(IllegalStateException.class, () -> run(() -> {
      leak();
      throw new IllegalStateException("test");
    }));
    run(TestRefCntLeakRule::balanced);
  }

  @Test
  public void testWhatIsReachableIsNoLeak() throws Throwable {
    RefCnt held = RefCnt.create(() -> {
    });
    run(() -> held.touch());
    held.release();
  }

  /** The detector reports leaks of one history once. */
  private static void leak() {
    AtomicBoolean freed = new AtomicBoolean();
    RefCnt.create(() -> freed.set(true)).touch("leak " + LEAKS.incrementAndGet());
  }

  private static void balanced() {
    RefCnt.create(() -> {
    }).release();
  }

  private static void run(Runnable test) throws Throwable {
    new RefCntLeakRule().apply(new Statement() {
      @Override
      public void evaluate() {
        test.run();
      }
    }, Description.createTestDescription(TestRefCntLeakRule.class, "test")).evaluate();
  }
}
