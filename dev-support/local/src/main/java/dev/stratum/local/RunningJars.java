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
package dev.stratum.local;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.VersionInfo;

/** Where the running HBase classes come from. */
final class RunningJars {
  private static final Map<String, Class<?>> CLASS_OF_MODULE = new LinkedHashMap<>();
  static {
    CLASS_OF_MODULE.put("hbase-common", HBaseConfiguration.class);
    CLASS_OF_MODULE.put("hbase-client", ConnectionFactory.class);
    CLASS_OF_MODULE.put("hbase-server", HRegionServer.class);
  }

  private RunningJars() {
  }

  /**
   * Checks that the three modules run from the jars of this build.
   * @param root the folder of the checkout
   * @return the version that they report
   * @throws RunLocalException if a class or the version is another's
   */
  static String check(Path root) throws IOException, RunLocalException {
    String expected = forkVersion();
    for (Map.Entry<String, Class<?>> module : CLASS_OF_MODULE.entrySet()) {
      Path source = sourceOf(module.getValue());
      if (!source.startsWith(root) || !isOurs(source, module.getKey(), expected)) {
        throw new RunLocalException("The running " + module.getKey() + " is " + source + ", not "
          + module.getKey() + "-" + expected + ".jar of this checkout; rebuild with mvn clean"
          + " install.");
      }
    }
    String running = VersionInfo.getVersion();
    if (!expected.equals(running)) {
      throw new RunLocalException("The running classes say that they are HBase " + running
        + " where this build is " + expected + "; rebuild with mvn clean install.");
    }
    return running;
  }

  /** A module is ours as its jar or, within one Maven reactor, as its folder of classes. */
  static boolean isOurs(Path source, String module, String version) {
    return source.endsWith(module + "-" + version + ".jar")
      || source.endsWith(Path.of(module, "target", "classes"));
  }

  static Path sourceOf(Class<?> type) throws RunLocalException {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    try {
      return Path.of(source.getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new RunLocalException(
        "The origin of " + type.getName() + " is no path: " + source.getLocation() + ".", e);
    }
  }

  private static String forkVersion() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = RunningJars.class.getResourceAsStream("/stratum-local.properties")) {
      properties.load(in);
    }
    return properties.getProperty("fork.version");
  }
}
