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
package dev.stratum.fork.style;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Test;

/** Added tests have the names of 3.x where they are exported for it, and nothing else has. */
public class TestRenamedTestClasses {
  private static final String TEST = "hbase-server/src/test/java/org/x/TestA.java";
  private static final String MAIN = "hbase-server/src/main/java/org/x/A.java";

  private static String exported(boolean junit5, String path) {
    SortedMap<String, byte[]> after = new TreeMap<>();
    after.put(path, JavaText.bytes("package org.x;\n\nimport org.junit.Test;\n\npublic class "
      + path.replaceAll(".*/|\\.java", "") + " {\n  HBaseTestingUtility util;\n"
      + "  MiniHBaseCluster cluster;\n  MyHBaseCluster mine;\n\n  @Test\n"
      + "  public void testA() {\n  }\n}\n"));
    return JavaText.text(new UpstreamStyle(junit5).apply(new TreeMap<>(), after).get(path));
  }

  @Test
  public void testOnlyAddedTestsOfTheNewLineAreRenamed() {
    String text = exported(true, TEST);
    assertTrue(text, text.contains("HBaseTestingUtil util;"));
    assertTrue(text, text.contains("SingleProcessHBaseCluster cluster;"));
    assertTrue(text, text.contains("MyHBaseCluster mine;"));
    assertFalse(text, text.contains("Utility"));
    assertTrue(exported(false, TEST).contains("HBaseTestingUtility util;"));
    assertTrue(exported(true, MAIN).contains("HBaseTestingUtility util;"));
  }

  @Test
  public void testNamesAreReplacedOnce() {
    assertEquals("HBaseClusterInterface a = new HBaseTestingUtil();",
      RenamedTestClasses.replace("HBaseCluster a = new HBaseTestingUtility();"));
  }
}
