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

import dev.stratum.fork.pages.SubmissionPages;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.util.List;
import org.apache.maven.plugins.annotations.Mojo;

/** Writes the pages of docs/upstream from the headers of the patches. */
@Mojo(name = "pages", aggregator = true, threadSafe = true)
public final class PagesMojo extends AbstractForkMojo {

  @Override
  void run() throws IOException {
    List<String> changed =
      new SubmissionPages(Series.read(root()), root(), baseVersion()).write();
    changed.forEach(path -> getLog().info("wrote " + path));
    getLog().info(changed.isEmpty() ? "no page changed" : changed.size() + " pages changed");
  }
}
