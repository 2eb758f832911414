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
package dev.stratum.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The JVM that every benchmark is measured in, and for how long, so that no result depends on who
 * ran it. Both sides get equal settings.
 * <p>
 * Several short-lived JVMs rather than one long one: two JVMs that run the same code differ by more
 * than two iterations in one JVM do (code layout, inlining decisions, memory layout), so that the
 * spread between JVMs is what an error bar has to cover. See Kalibera and Jones, Rigorous
 * Benchmarking in Reasonable Time (ISMM 2013), and Georges et al., Statistically Rigorous Java
 * Performance Evaluation (OOPSLA 2007).
 * <p>
 * The heap is touched at the start, since a first touch costs a page fault. A benchmark with
 * another heap size has to touch all of it at the start too: a heap that grows touches what it
 * grows by in a pause, of 0.6 s for some GB. The opened packages are
 * those that HBase needs on JDK 17: the same as in the tests, <code>test.jvm.opens</code> of the
 * parent POM.
 */
@Fork(value = 5,
    jvmArgs = { "-Xms512m", "-Xmx512m", "-XX:MaxDirectMemorySize=1g", "-XX:+UseG1GC",
      "-XX:+AlwaysPreTouch", "-XX:+UnlockDiagnosticVMOptions",
      "-XX:-BytecodeVerificationRemote",
      "-Dlog4j2.configurationFile=stratum-bench-log4j2.xml",
      "-Dorg.apache.hbase.thirdparty.io.netty.tryReflectionSetAccessible=true",
      "--add-modules=jdk.unsupported", "--add-opens=java.base/java.io=ALL-UNNAMED",
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
      "--add-opens=java.base/java.math=ALL-UNNAMED", "--add-opens=java.base/java.net=ALL-UNNAMED",
      "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.text=ALL-UNNAMED",
      "--add-opens=java.base/java.util=ALL-UNNAMED",
      "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
      "--add-opens=java.base/java.util.regex=ALL-UNNAMED",
      "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
      "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
      "--add-opens=java.base/sun.security.x509=ALL-UNNAMED",
      "--add-opens=java.base/sun.security.util=ALL-UNNAMED",
      "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
      "--add-exports=java.security.jgss/sun.security.krb5=ALL-UNNAMED" })
@Warmup(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 4, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public abstract class PinnedJvm {
}
