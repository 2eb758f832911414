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
package dev.stratum.fork.goal;

import dev.stratum.fork.base.BaseModule;
import dev.stratum.fork.base.BaseResolver;
import dev.stratum.fork.base.LineSources;
import dev.stratum.fork.base.PinnedChecksums;
import dev.stratum.fork.series.Modules;
import java.io.IOException;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;

/** What the goals that work on all modules at once share. They run once, in the root. */
abstract class AbstractSeriesMojo extends AbstractForkMojo {

  /** Returns the verified files of the base, all modules in one tree. */
  final SortedMap<String, byte[]> baseTree() throws IOException {
    PinnedChecksums pinned = PinnedChecksums.read(root());
    BaseResolver resolver = resolver();
    SortedMap<String, byte[]> tree = new TreeMap<>();
    for (String name : Modules.ALL) {
      BaseModule module = resolver.resolve(name, baseVersion());
      pinned.verify(module.jar());
      pinned.verify(module.sources());
      tree.putAll(module.readTree());
    }
    return tree;
  }

  /**
   * Returns the published sources of a version. The base's release is the base, whichever Hadoop it
   * is for; the sources are the same.
   */
  final LineSources line(String version) throws IOException {
    String published = LineSources.release(baseVersion()).equals(version) ? baseVersion() : version;
    return LineSources.resolve(resolver(), published, getLog()::warn);
  }

  /** Returns the message of the commit that holds the base. */
  final String baseName() {
    return "Apache HBase " + baseVersion();
  }

  /** Returns where the editable work tree is. */
  final Path forkTree() {
    return root().resolve("target").resolve("forktree");
  }
}
