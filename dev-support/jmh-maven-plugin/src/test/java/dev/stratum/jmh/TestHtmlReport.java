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
package dev.stratum.jmh;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

public class TestHtmlReport {
  private static String html(Comparison comparison) {
    return new HtmlReport(comparison).html("fork <1> against stock", "mvn 'a&b'", "today");
  }

  @Test
  public void testThePageLoadsNothing() throws IOException {
    String html = html(Samples.comparison());
    assertFalse(html, Pattern.compile("<(script|link|img|iframe)|url\\(|@import|https?:")
      .matcher(html).find());
  }

  @Test
  public void testTextIsEscaped() throws IOException {
    String html = html(Samples.comparison());
    assertTrue(html.contains("<h1>fork &lt;1&gt; against stock</h1>"));
    assertTrue(html.contains("<code>mvn 'a&amp;b'</code>"));
  }

  @Test
  public void testEveryRatioHasADotAndATickPerRound() throws IOException {
    String html = html(Samples.comparison());
    assertEquals(5, count(html, "<circle class=\"(ahead|behind|meta)\""));
    assertEquals(5, count(html, "class=\"range "));
    // One of the rules is the axis' 1.
    assertEquals(5 * 2 + 1, count(html, "<polyline class=\"rule\""));
  }

  @Test
  public void testEveryElementThatIsOpenedIsClosed() throws IOException {
    for (Comparison comparison : new Comparison[] { Samples.comparison(), Samples.forkAlone() }) {
      String html = html(comparison);
      for (String tag : new String[] { "div", "svg", "text", "circle", "table", "tr", "td", "p" }) {
        assertEquals(tag, count(html, "<" + tag + "[ >]"), count(html, "</" + tag + ">"));
      }
    }
  }

  @Test
  public void testWithoutStockThereIsNoPlotOfRatios() throws IOException {
    String html = html(Samples.forkAlone());
    assertFalse(html.contains("How many times better"));
    assertTrue(html.contains("Bytes of heap allocated per operation"));
  }

  private static int count(String text, String regex) {
    int count = 0;
    Matcher matcher = Pattern.compile(regex).matcher(text);
    while (matcher.find()) {
      count++;
    }
    return count;
  }
}
