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
package dev.stratum.processes;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** The settings of a process, as a file, so that a running server can reload them. */
public final class SiteFile {
  private SiteFile() {
  }

  /** Writes or replaces the file, in one step. */
  public static void write(Path file, Map<String, String> keys) throws IOException {
    Configuration conf = new Configuration(false);
    keys.forEach(conf::set);
    Path whole = file.resolveSibling(file.getFileName() + ".new");
    try (OutputStream out = Files.newOutputStream(whole)) {
      conf.writeXml(out);
    }
    Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * Returns HBase's configuration with the keys of the file, and with temporary folders in this
   * JVM's <code>java.io.tmpdir</code>.
   * @param request has the path of the file as <code>site</code>
   */
  public static Configuration read(JsonObject request) {
    Configuration conf = HBaseConfiguration.create();
    conf.addResource(new org.apache.hadoop.fs.Path(request.get("site").getAsString()));
    String folder = System.getProperty("java.io.tmpdir");
    conf.set("hbase.tmp.dir", folder + "/hbase");
    conf.set("hadoop.tmp.dir", folder + "/hadoop");
    return conf;
  }
}
