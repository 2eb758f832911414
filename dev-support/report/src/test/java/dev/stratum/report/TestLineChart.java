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
package dev.stratum.report;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.report.LineChart.Axis;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.Test;
import org.w3c.dom.Document;

public class TestLineChart {
  private static Document draw(LineChart chart) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder()
      .parse(new ByteArrayInputStream(chart.svg().getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  public void testNamesStandAtEqualDistancesAndLinesHaveTheirClasses() throws Exception {
    LineChart chart = new LineChart("a & b", Axis.names("clients", List.of("1", "16")),
      Axis.linear("", 20));
    chart.add("fork p99", List.of(new double[] { 0, 0 }, new double[] { 1, 20 }), true);
    chart.add("stock", List.of(), true);
    Document figure = draw(chart);
    assertEquals("a & b", figure.getElementsByTagName("figcaption").item(0).getTextContent());
    assertEquals(1, figure.getElementsByTagName("polyline").getLength());
    assertEquals("fork p99", figure.getElementsByTagName("polyline").item(0).getAttributes()
      .getNamedItem("class").getNodeValue());
    assertEquals(2, figure.getElementsByTagName("circle").getLength());
    assertTrue(chart.svg(), chart.svg().contains(">16</text>"));
  }

  @Test
  public void testAnAxisEndsAtARoundNumberAboveItsValues() {
    assertEquals(50, Axis.linear("", 42).high(), 0);
    assertEquals(1, Axis.linear("", 0).high(), 0);
    assertEquals(1000, Axis.logarithmic("", 3, 500).high(), 1e-9);
    assertEquals(1, Axis.logarithmic("", 3, 500).low(), 0);
    assertEquals(99.9, Axis.nines("", 99.9).high(), 0);
  }

  @Test
  public void testNinesAreAtEqualDistances() {
    Axis axis = Axis.nines("percentile", 99.9);
    assertEquals(axis.place(99) - axis.place(90), axis.place(99.9) - axis.place(99), 1e-9);
  }
}
