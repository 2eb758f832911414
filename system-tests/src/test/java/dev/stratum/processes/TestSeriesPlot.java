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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.Test;

public class TestSeriesPlot {
  @Test
  public void testEachSeriesHasAChart() {
    Map<Soaked, List<Double>> samples = new EnumMap<>(Soaked.class);
    samples.put(Soaked.HEAP, List.of(100.0, 250.0));
    samples.put(Soaked.WAITING_CALLS, List.of(0.0, 0.0));
    String html = SeriesPlot.html(List.of(0.5, 1.0), samples);
    assertEquals(2, html.split("<svg ", -1).length - 1);
    assertTrue(html, html.contains(">heap after collection, up to 250.0 MB<"));
    // A series of zeros is a line at the bottom.
    assertTrue(html, html.contains("points=\"213,210 374,210\""));
  }
}
