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
package dev.stratum.fork.pages;

import dev.stratum.fork.ForkException;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathExpressionException;
import javax.xml.xpath.XPathFactory;
import javax.xml.xpath.XPathNodes;
import org.w3c.dom.Node;
import org.xml.sax.InputSource;

/**
 * Says for people to read what a CycloneDX bill of materials says for programs: what the jars run
 * with, by licence.
 */
public final class DependencyReport {
  public static final String NAME = "DEPENDENCIES";

  private static final String HEAD = """
    What the jars run with, by licence, as the POM of each says it. A distribution of HBase has it
    in lib; the archive has none of it but the three jars of this version. bom.json says the same
    for programs, with checksums.
    """;
  private static final XPath XPATH = XPathFactory.newInstance().newXPath();

  private DependencyReport() {
  }

  /**
   * Returns the report, the same for the same components in whatever order.
   * @param bill a bill of materials in CycloneDX's XML
   * @throws ForkException if it is none, or a component has no licence
   */
  public static String of(byte[] bill) {
    Map<String, TreeSet<String>> byLicence = new TreeMap<>();
    try {
      Object root =
        XPATH.evaluateExpression("/", new InputSource(new ByteArrayInputStream(bill)), Node.class);
      for (Node component : nodes("/*/*[local-name()='components']/*", root)) {
        String name = text("group", component) + ":" + text("name", component) + ":"
          + text("version", component);
        TreeSet<String> licences = new TreeSet<>();
        for (Node licence : nodes("*[local-name()='licenses']/*", component)) {
          String id = text("id", licence);
          String word = id.isEmpty() ? text("name", licence) : id;
          licences.add(word.isEmpty() ? licence.getTextContent().trim() : word);
        }
        if (licences.isEmpty()) {
          throw new ForkException("%s has no licence; exclude it, or name its licence in the POM "
            + "that needs it.", name);
        }
        byLicence.computeIfAbsent(String.join(" or ", licences), any -> new TreeSet<>()).add(name);
      }
    } catch (XPathExpressionException e) {
      throw new ForkException("The bill of materials cannot be read: %s.", e.getMessage());
    }
    StringBuilder report = new StringBuilder(HEAD);
    byLicence.forEach((licence, names) -> {
      report.append('\n').append(licence).append('\n');
      names.forEach(name -> report.append("  ").append(name).append('\n'));
    });
    return report.toString();
  }

  private static List<Node> nodes(String path, Object from) throws XPathExpressionException {
    List<Node> found = new ArrayList<>();
    XPATH.evaluateExpression(path, from, XPathNodes.class).forEach(found::add);
    return found;
  }

  private static String text(String child, Node parent) throws XPathExpressionException {
    return XPATH.evaluate("*[local-name()='" + child + "'][1]", parent).trim();
  }
}
