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
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilder;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.xml.sax.SAXException;

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

  private DependencyReport() {
  }

  /**
   * Returns the report, the same for the same components in whatever order.
   * @param bill a bill of materials in CycloneDX's XML
   * @throws ForkException if it is none, or a component has no licence
   */
  public static String of(byte[] bill) throws IOException {
    Map<String, TreeSet<String>> byLicence = new TreeMap<>();
    for (Element list : children(root(bill), "components")) {
      for (Element component : children(list, "component")) {
        String name = text(component, "group") + ":" + text(component, "name") + ":"
          + text(component, "version");
        List<String> licences = new ArrayList<>();
        for (Element all : children(component, "licenses")) {
          children(all, "license").forEach(one -> licences.add(
            children(one, "id").isEmpty() ? text(one, "name") : text(one, "id")));
          children(all, "expression").forEach(one -> licences.add(one.getTextContent().trim()));
        }
        if (licences.isEmpty()) {
          throw new ForkException("%s comes without a licence; exclude it, or name its licence in "
            + "the POM that asks for it.", name);
        }
        byLicence.computeIfAbsent(String.join(" or ", new TreeSet<>(licences)),
          any -> new TreeSet<>()).add(name);
      }
    }
    StringBuilder report = new StringBuilder(HEAD);
    byLicence.forEach((licence, names) -> {
      report.append('\n').append(licence).append('\n');
      names.forEach(name -> report.append("  ").append(name).append('\n'));
    });
    return report.toString();
  }

  private static Element root(byte[] bill) throws IOException {
    try {
      DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
      factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      factory.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      factory.setNamespaceAware(true);
      DocumentBuilder builder = factory.newDocumentBuilder();
      // The exception has the message; the console does not repeat it.
      builder.setErrorHandler(null);
      return builder.parse(new ByteArrayInputStream(bill)).getDocumentElement();
    } catch (ParserConfigurationException | SAXException e) {
      throw new ForkException("The bill of materials cannot be read: %s", e.getMessage());
    }
  }

  private static List<Element> children(Element parent, String name) {
    List<Element> found = new ArrayList<>();
    for (Node child = parent.getFirstChild(); child != null; child = child.getNextSibling()) {
      if (child instanceof Element element && name.equals(element.getLocalName())) {
        found.add(element);
      }
    }
    return found;
  }

  private static String text(Element parent, String name) {
    return children(parent, name).stream().map(child -> child.getTextContent().trim()).findFirst()
      .orElse("");
  }
}
