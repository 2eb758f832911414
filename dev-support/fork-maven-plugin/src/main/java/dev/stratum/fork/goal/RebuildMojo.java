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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.git.ForkTree;
import dev.stratum.fork.pages.FeatureTable;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;

/** Writes the commits of {@code target/forktree} back to patches/ and the source folders. */
@Mojo(name = "rebuild", aggregator = true, threadSafe = true)
public final class RebuildMojo extends AbstractForkMojo {

  @Override
  void run() throws IOException {
    if (!Files.isDirectory(forkTree().resolve(".git"))) {
      throw new ForkException("%s does not exist; run fork:checkout first.", forkTree());
    }
    try (ForkTree tree = new ForkTree(forkTree(), time())) {
      List<String> actions = tree.rebuild(root());
      Path file = root().resolve(FeatureTable.FILE);
      byte[] table = FeatureTable.page(Series.read(root()), root());
      if (table != null && !Arrays.equals(table, Files.readAllBytes(file))) {
        Files.write(file, table);
        getLog().info("wrote the table of " + FeatureTable.FILE);
      }
      actions.forEach(getLog()::info);
      getLog().info(Series.read(root()).patches().size() + " patches; "
        + (actions.isEmpty() ? "nothing" : actions.size() + " files") + " changed");
    }
  }
}
