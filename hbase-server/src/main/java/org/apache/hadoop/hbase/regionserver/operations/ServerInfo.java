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
package org.apache.hadoop.hbase.regionserver.operations;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.security.CodeSource;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.jar.Manifest;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.apache.hadoop.metrics2.util.MBeans;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The code versions of this process, for JMX. Jar manifests are read once, when the server starts:
 * later, another file may have the same name. Immutable.
 */
@InterfaceAudience.Private
public final class ServerInfo implements ServerInfoMXBean {
  private static final Logger LOG = LoggerFactory.getLogger(ServerInfo.class);

  /** Manifest attribute that a patched build adds to each jar beside its version. */
  private static final Attributes.Name CHECKSUM = new Attributes.Name("Source-Checksum");

  private static final class Registration {
    static final Object BEAN = MBeans.register("HBase", "Info", new ServerInfo());

    static {
      BuildInfoSource.register();
    }

    private Registration() {
    }
  }

  private final String commonJar = origin(HBaseConfiguration.class);
  private final String clientJar = origin(ConnectionFactory.class);
  private final String serverJar = origin(ServerInfo.class);
  private final String commonBuild = build(commonJar);
  private final String clientBuild = build(clientJar);
  private final String serverBuild = build(serverJar);

  ServerInfo() {
  }

  /**
   * Publishes the bean and the gauge <code>build_info</code>, once per process, however many
   * servers it has. Thread-safe.
   */
  public static void register() {
    if (Registration.BEAN == null) {
      LOG.warn("Cannot register the version information in JMX");
    }
  }

  @Override
  public String getVersion() {
    return VersionInfo.getVersion();
  }

  @Override
  public String getRevision() {
    return VersionInfo.getRevision();
  }

  @Override
  public String getCommonJar() {
    return commonJar;
  }

  @Override
  public String getClientJar() {
    return clientJar;
  }

  @Override
  public String getServerJar() {
    return serverJar;
  }

  @Override
  public String getCommonBuild() {
    return commonBuild;
  }

  @Override
  public String getClientBuild() {
    return clientBuild;
  }

  @Override
  public String getServerBuild() {
    return serverBuild;
  }

  private static String origin(Class<?> type) {
    CodeSource source = type.getProtectionDomain().getCodeSource();
    if (source == null || source.getLocation() == null) {
      return "";
    }
    try {
      return new File(source.getLocation().toURI()).getPath();
    } catch (URISyntaxException | IllegalArgumentException e) {
      return source.getLocation().toString();
    }
  }

  /**
   * Returns version and checksum from the manifest of {@code jar}; empty if it is a directory or
   * has none.
   */
  static String build(String jar) {
    if (!new File(jar).isFile()) {
      return "";
    }
    try (JarFile file = new JarFile(jar)) {
      Manifest manifest = file.getManifest();
      if (manifest == null) {
        return "";
      }
      Attributes main = manifest.getMainAttributes();
      String version = main.getValue(Attributes.Name.IMPLEMENTATION_VERSION);
      String checksum = main.getValue(CHECKSUM);
      return (version == null ? "" : version) + (checksum == null ? "" : " " + checksum);
    } catch (IOException e) {
      LOG.warn("Cannot read the manifest of {}", jar, e);
      return "";
    }
  }
}
