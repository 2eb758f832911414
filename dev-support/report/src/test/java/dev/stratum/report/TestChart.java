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

import java.io.StringReader;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.xml.sax.InputSource;

public class TestChart {
  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder()
      .parse(new InputSource(new StringReader(svg)));
  }

  private static double attribute(Document svg, String tag, int index, String name) {
    return Double.parseDouble(((Element) svg.getElementsByTagName(tag).item(index))
      .getAttribute(name));
  }

  @Test
  public void testNamesStandAtEqualDistancesAndLinesHaveTheirClasses() throws Exception {
    Chart chart = new Chart("a & b", Axis.names("clients", List.of("1", "16")),
      Axis.linear("", 20));
    chart.line("fork p99", List.of(new double[] { 0, 0 }, new double[] { 1, 20 }), true);
    chart.line("stock", List.of(), true);
    Document svg = parse(chart.svg());
    assertEquals("a & b", svg.getElementsByTagName("text").item(0).getTextContent());
    assertEquals(1, svg.getElementsByTagName("polyline").getLength());
    Element line = (Element) svg.getElementsByTagName("polyline").item(0);
    assertEquals("fork p99", line.getAttribute("class"));
    assertEquals("132.5,210 293.5,30", line.getAttribute("points"));
    assertEquals(2, svg.getElementsByTagName("circle").getLength());
    assertTrue(chart.svg(), chart.svg().contains(">16</text>"));
  }

  @Test
  public void testMarksStandInTheirRowsAtTheirValues() throws Exception {
    Chart chart = Chart.rows("a < b", Axis.linear("x & y", 2), List.of("one", "two"));
    chart.legend("fork", "p99");
    for (int row = 0; row < 2; row++) {
      chart.range("stock", 0, 2, row);
      chart.dot("fork", 1, row, "at 1");
    }
    Document svg = parse(chart.file());
    assertEquals("a < b", svg.getDocumentElement().getAttribute("aria-label"));
    assertTrue(svg.getDocumentElement().getTextContent().contains("x & y"));
    String[] ends = ((Element) svg.getElementsByTagName("polyline").item(0))
      .getAttribute("points").split("[ ,]");
    // The first circle is the legend's.
    assertEquals(3, svg.getElementsByTagName("circle").getLength());
    assertEquals((Double.parseDouble(ends[0]) + Double.parseDouble(ends[2])) / 2,
      attribute(svg, "circle", 1, "cx"), 0.1);
    assertEquals(Double.parseDouble(ends[1]), attribute(svg, "circle", 1, "cy"), 0);
    assertTrue(attribute(svg, "circle", 2, "cy") > attribute(svg, "circle", 1, "cy"));
  }

  @Test
  public void testALongLabelHasTwoLines() throws Exception {
    String half = "x".repeat(40);
    Document svg =
      parse(Chart.rows("", Axis.linear("", 1), List.of(half + " y", half + ' ' + half)).svg());
    assertEquals(half + " y", svg.getElementsByTagName("text").item(1).getTextContent());
    assertEquals(half, svg.getElementsByTagName("text").item(2).getTextContent());
    assertEquals(half, svg.getElementsByTagName("text").item(3).getTextContent());
  }

  @Test
  public void testAnAxisEndsAtARoundNumberAboveItsValues() {
    assertEquals(50, Axis.linear("", 42).high(), 0);
    assertEquals(1, Axis.linear("", 0).high(), 0);
    assertEquals(1000, Axis.logarithmic("", 3, 500).high(), 1e-9);
    assertEquals(1, Axis.logarithmic("", 3, 500).low(), 0);
    assertEquals(99.9, Axis.nines("", 99.9).high(), 0);
    assertEquals(99.99, Axis.nines("", 99.95).high(), 0);
  }

  @Test
  public void testRatiosHaveEqualFactorsAtEqualDistancesAroundOne() {
    Axis axis = Axis.ratios(0.6, 1.2);
    assertEquals(0.5, axis.low(), 0);
    assertEquals(0.5, axis.at(1), 1e-9);
    assertEquals(axis.at(1.5) - axis.at(1), axis.at(1) - axis.at(1 / 1.5), 1e-9);
    assertEquals("beyond the end", 0, axis.at(0.1), 0);
    assertEquals(1.25, Axis.ratios(0.97, 1.01).high(), 0);
    assertEquals(100, Axis.ratios(0.9, 42).high(), 0);
  }

  @Test
  public void testNinesAreAtEqualDistances() {
    Axis axis = Axis.nines("percentile", 99.9);
    assertEquals(axis.at(99) - axis.at(90), axis.at(99.9) - axis.at(99), 1e-9);
  }
}
