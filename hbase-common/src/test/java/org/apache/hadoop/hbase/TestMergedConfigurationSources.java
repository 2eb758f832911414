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
package org.apache.hadoop.hbase;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.testclassification.MiscTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that a copy made value by value still tells a default from what somebody has set. */
@Category({ MiscTests.class, SmallTests.class })
public class TestMergedConfigurationSources {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMergedConfigurationSources.class);

  private static final String KEY = "example.key";

  private final Configuration source = new Configuration(false);

  @Test
  public void testFileIsKept() {
    file("some-default.xml", "1");
    assertSource("1", "some-default.xml");
  }

  @Test
  public void testFileThatOverridesAnotherIsKept() {
    file("some-default.xml", "1");
    file("some-site.xml", "2");
    assertSource("2", "some-site.xml");
  }

  @Test
  public void testProgramIsKept() {
    file("some-default.xml", "1");
    source.set(KEY, "2");
    assertSource("2", "programmatically");
  }

  @Test
  public void testWordOfAProgramIsKept() {
    source.set(KEY, "2", "command line");
    assertSource("2", "command line");
  }

  @Test
  public void testSourceSurvivesCopiesOfCopiesAndReloads() {
    file("some-default.xml", "1");
    Configuration copy = HBaseConfiguration.create(HBaseConfiguration.create(source));
    copy.reloadConfiguration();
    assertEquals("1", copy.get(KEY));
    assertArrayEquals(new String[] { "some-default.xml" }, copy.getPropertySources(KEY));
  }

  /** Hadoop remembers the source of a value that is no more. */
  @Test
  public void testWhatWasUnsetHasNoSource() {
    source.set(KEY, "1");
    source.unset(KEY);
    Configuration copy = new Configuration(false);
    HBaseConfiguration.merge(copy, source);
    assertNull(copy.get(KEY));
    assertNull(copy.getPropertySources(KEY));
  }

  /** A compound has sources, but they are not those of the values in its parts. */
  @Test
  public void testValueOfACompoundIsAProgramsValue() {
    String key = "io.file.buffer.size";
    source.set(key, "1");
    Configuration compound = new CompoundConfiguration().add(source);
    assertArrayEquals(new String[] { "core-default.xml" }, compound.getPropertySources(key));
    Configuration copy = HBaseConfiguration.create(compound);
    assertEquals("1", copy.get(key));
    assertArrayEquals(new String[] { "programmatically" }, copy.getPropertySources(key));
  }

  private void file(String name, String value) {
    source.addResource(new ByteArrayInputStream(("<configuration><property><name>" + KEY
      + "</name><value>" + value + "</value></property></configuration>")
      .getBytes(StandardCharsets.UTF_8)), name);
  }

  private void assertSource(String value, String name) {
    Configuration copy = HBaseConfiguration.create(source);
    assertEquals(value, copy.get(KEY));
    assertArrayEquals(new String[] { name }, copy.getPropertySources(KEY));
  }
}
