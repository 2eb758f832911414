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

import dev.stratum.fork.git.ForkTree;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Makes {@code target/forktree}, a git work tree with the base as one commit and one commit for
 * each patch, to be edited with git and written back by fork:rebuild.
 */
@Mojo(name = "checkout", aggregator = true, threadSafe = true)
public final class CheckoutMojo extends AbstractForkMojo {

  /** Whether to go on although the work tree has work that was never rebuilt. */
  @Parameter(property = "fork.force", defaultValue = "false")
  private boolean force;

  @Override
  void run() throws IOException {
    Series series = Series.read(root());
    try (ForkTree tree = new ForkTree(forkTree(), time())) {
      if (!force) {
        tree.refuseToLoseWork("first, or give -Dfork.force to set that work aside");
      }
      getLog().info("Reading " + baseName());
      ForkHistory history = ForkHistory.of(baseTree(), series, root(), tree.store()::find);
      for (ForkHistory.Step step : history.steps()) {
        for (String path : step.merged()) {
          if (step.conflicts().contains(path)) {
            getLog().warn(String.format("%s conflicts with an earlier patch in %s; its commit has "
              + "conflict markers there: correct them in that commit (git rebase -i base).",
              step.patch().shown(), path));
          } else {
            getLog().info(String.format("%s was made against another %s and has been merged into "
              + "it; fork:rebuild writes it anew.", step.patch().shown(), path));
          }
        }
      }
      tree.checkout(history, baseName(), root());
      getLog().info(forkTree() + " has the base and " + history.steps().size()
        + " patches; commit there, then run fork:rebuild");
    }
  }
}
