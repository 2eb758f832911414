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
package org.apache.hadoop.hbase.ipc;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.experimental.categories.Category;

/** What HBase asks of a Netty client, with requests and responses that are sent together. */
@Category({ RPCTests.class, MediumTests.class })
public class TestFlushConsolidationIPC extends TestNettyIPC {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushConsolidationIPC.class);

  @BeforeClass
  public static void enable() {
    CONF.setBoolean(RequestConsolidation.ENABLED_KEY, true);
    CONF.setBoolean(FlushConsolidationSettings.ENABLED_KEY, true);
  }

  @AfterClass
  public static void disable() {
    CONF.unset(RequestConsolidation.ENABLED_KEY);
    CONF.unset(FlushConsolidationSettings.ENABLED_KEY);
  }
}
