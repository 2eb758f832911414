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

public class TestDotPlot {
  private static Document plot() throws Exception {
    DotPlot plot = new DotPlot("a < b",
      new LineChart.Axis("x & y", value -> value, List.of(0.0, 1.0, 2.0), String::valueOf, 0, 2));
    plot.legend("fork", true, "p99");
    plot.rule(1);
    for (String row : List.of("one", "two")) {
      plot.row(row);
      plot.range("stock", 0, 2);
      plot.dot("fork", 1, false, row + " at 1");
    }
    return DocumentBuilderFactory.newInstance().newDocumentBuilder()
      .parse(new InputSource(new StringReader(plot.svg())));
  }

  private static double attribute(Document svg, String tag, int index, String name) {
    return Double.parseDouble(((Element) svg.getElementsByTagName(tag).item(index))
      .getAttribute(name));
  }

  @Test
  public void testMarksStandAtTheirValues() throws Exception {
    Document svg = plot();
    // Three of the grid and the rule precede the ranges; the circle of the legend the dots.
    assertEquals(6, svg.getElementsByTagName("line").getLength());
    double low = attribute(svg, "line", 4, "x1");
    double high = attribute(svg, "line", 4, "x2");
    assertEquals(3, svg.getElementsByTagName("circle").getLength());
    assertEquals((low + high) / 2, attribute(svg, "circle", 1, "cx"), 0.1);
    assertEquals(attribute(svg, "line", 3, "x1"), attribute(svg, "circle", 2, "cx"), 0.1);
    assertTrue(attribute(svg, "circle", 2, "cy") > attribute(svg, "circle", 1, "cy"));
  }

  @Test
  public void testTextIsEscaped() throws Exception {
    assertEquals("a < b", plot().getDocumentElement().getAttribute("aria-label"));
    assertTrue(plot().getDocumentElement().getTextContent().contains("x & y"));
  }
}
