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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.Test;

public class TestDependencyReport {
  private static final String MIT = component("org.slf4j", "slf4j-api", "1.7.33",
    "<license><id>MIT</id><url>https://opensource.org/license/mit/</url></license>");
  private static final String TWO = component("javax.annotation", "annotation-api", "1.3.2",
    "<license><name>GPL2 w/ CPE</name></license><license><name>CDDL</name></license>");
  private static final String WORDS =
    component("a", "b", "1", "<expression>EPL-2.0 OR MIT</expression>");

  private static String component(String group, String name, String version, String licences) {
    return "<component type=\"library\"><publisher>any</publisher><group>" + group + "</group>"
      + "<name>" + name + "</name><version>" + version + "</version>"
      + (licences.isEmpty() ? "" : "<licenses>" + licences + "</licenses>") + "</component>";
  }

  private static String report(String... components) throws IOException {
    return DependencyReport.of(("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      + "<bom xmlns=\"http://cyclonedx.org/schema/bom/1.6\"><metadata><component type=\"library\">"
      + "<name>itself</name></component></metadata><components>" + String.join("\n", components)
      + "</components></bom>").getBytes(StandardCharsets.UTF_8));
  }

  @Test
  public void testListsEachComponentUnderItsLicence() throws IOException {
    String report = report(TWO, MIT, WORDS);
    assertTrue(report, report.endsWith("\n\nCDDL or GPL2 w/ CPE\n"
      + "  javax.annotation:annotation-api:1.3.2\n\nEPL-2.0 OR MIT\n  a:b:1\n\nMIT\n"
      + "  org.slf4j:slf4j-api:1.7.33\n"));
  }

  @Test
  public void testIsTheSameInWhateverOrder() throws IOException {
    assertEquals(report(TWO, MIT, WORDS), report(WORDS, MIT, TWO));
  }

  @Test
  public void testComponentWithoutALicenceIsNamed() {
    ForkException e = assertThrows(ForkException.class,
      () -> report(MIT, component("org.example", "free", "2", "")));
    assertTrue(e.getMessage(), e.getMessage().startsWith("org.example:free:2 has no licence"));
  }

  @Test
  public void testWhatIsNoBillIsRefused() {
    assertThrows(ForkException.class, () -> report("<component>"));
  }
}
