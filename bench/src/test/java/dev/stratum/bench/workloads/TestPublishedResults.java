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
package dev.stratum.bench.workloads;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Test;

/**
 * README.md and the pictures of both it and docs/results.md show what the committed results say.
 * With <code>-Dresults.write=true</code> the test writes them instead.
 */
public class TestPublishedResults {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();

  private final PublishedResults results = new PublishedResults(ROOT);

  private static void check(String path, String content) throws IOException {
    Path file = ROOT.resolve(path);
    if (Boolean.getBoolean("results.write")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, content);
    }
    assertEquals(path, content, Files.readString(file));
  }

  @Test
  public void testReadmeHasTheTable() throws Exception {
    check("README.md", results.readme());
  }

  @Test
  public void testPicturesShowTheResults() throws Exception {
    check("docs/images/ratios.svg", results.ratios());
    check("docs/images/latencies.svg", results.latencies());
  }

  @Test
  public void testEachFeatureHasItsPicture() throws Exception {
    FeaturePlots plots = new FeaturePlots(ROOT);
    String guide = Files.readString(ROOT.resolve("docs/results.md"));
    for (String feature : FeaturePlots.FEATURES) {
      check("docs/images/" + feature + ".svg", plots.svg(feature));
      assertTrue(feature, guide.contains("](images/" + feature + ".svg)"));
    }
  }
}
