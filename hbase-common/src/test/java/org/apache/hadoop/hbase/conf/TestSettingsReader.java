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
package org.apache.hadoop.hbase.conf;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MiscTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.function.ThrowingRunnable;

@Category({ MiscTests.class, SmallTests.class })
public class TestSettingsReader {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSettingsReader.class);

  private static final String KEY = "hbase.x";

  private final Configuration conf = new Configuration(false);
  private final SettingsReader reader = SettingsReader.of(conf);

  private void assertRejected(String value, String message, ThrowingRunnable read) {
    conf.set(KEY, value);
    assertEquals(message, assertThrows(IllegalArgumentException.class, read).getMessage());
  }

  private void assertDefaults() {
    assertNull(reader.text(KEY));
    assertTrue(reader.flag(KEY, true));
    assertFalse(reader.flag(KEY, false));
    assertEquals(-7, reader.intIn(KEY, -7, 1, 128));
    assertEquals(-7, reader.longIn(KEY, -7, 1, 128));
    assertEquals(-7, reader.fractionIn(KEY, -7, 0, 1), 0);
    assertEquals("else", reader.oneOf(KEY, "else", "row", "region"));
    assertNull(reader.oneOf(KEY, null, "row", "region"));
  }

  @Test
  public void testKeyThatIsNotSetOrEmptyHasItsDefault() {
    assertDefaults();
    conf.set(KEY, "");
    assertDefaults();
    conf.set(KEY, " \n ");
    assertDefaults();
  }

  @Test
  public void testFlagIsTrueOrFalseInAnyCase() {
    for (String value : new String[] { "true", "TRUE", " True\n" }) {
      conf.set(KEY, value);
      assertTrue(reader.flag(KEY, false));
    }
    for (String value : new String[] { "false", "FALSE", " False " }) {
      conf.set(KEY, value);
      assertFalse(reader.flag(KEY, true));
    }
  }

  @Test
  public void testMisspeltFlagIsRejectedWhateverItsDefault() {
    for (String value : new String[] { "ture", "yes", "1", "on", "tru", "true false", "falsee" }) {
      for (boolean missing : new boolean[] { true, false }) {
        assertRejected(value, "hbase.x is " + value + "; must be true or false. Set one of these, "
          + "or remove the key for the default of " + missing + ".",
          () -> reader.flag(KEY, missing));
      }
    }
  }

  @Test
  public void testIntegersWithinTheRangeAreAccepted() {
    for (int value : new int[] { 1, 2, 127, 128 }) {
      conf.set(KEY, " " + value + " ");
      assertEquals(value, reader.intIn(KEY, 30, 1, 128));
      assertEquals(value, reader.longIn(KEY, 30, 1, 128));
    }
    conf.setInt(KEY, Integer.MAX_VALUE);
    assertEquals(Integer.MAX_VALUE, reader.intIn(KEY, 30, 1, Integer.MAX_VALUE));
    conf.setInt(KEY, Integer.MIN_VALUE);
    assertEquals(Integer.MIN_VALUE,
      reader.intIn(KEY, 30, Integer.MIN_VALUE, Integer.MAX_VALUE));
    conf.setLong(KEY, Long.MAX_VALUE);
    assertEquals(Long.MAX_VALUE, reader.longIn(KEY, 30, 1, Long.MAX_VALUE));
  }

  @Test
  public void testIntegersBeyondTheRangeAreRejected() {
    for (String value : new String[] { "0", "129", "-1", "1.5", "many", "1k", "0x10", "NaN",
      "99999999999999999999" }) {
      String message = "hbase.x is " + value + "; must be an integer from 1 to 128. Set a number "
        + "in this range, or remove the key for the default of 30.";
      assertRejected(value, message, () -> reader.intIn(KEY, 30, 1, 128));
      assertRejected(value, message, () -> reader.longIn(KEY, 30, 1, 128));
    }
  }

  @Test
  public void testIntegerWithoutUpperLimitIsStillAnInteger() {
    assertRejected("2147483648", "hbase.x is 2147483648; must be an integer of at least 0. Set a "
      + "number in this range, or remove the key for the default of 5.",
      () -> reader.intIn(KEY, 5, 0, Integer.MAX_VALUE));
    assertRejected("9223372036854775808", "hbase.x is 9223372036854775808; must be an integer of "
      + "at least 0. Set a number in this range, or remove the key for the default of 5.",
      () -> reader.longIn(KEY, 5, 0, Long.MAX_VALUE));
  }

  @Test
  public void testFractionsWithinTheRangeAreAccepted() {
    for (String value : new String[] { "0", "0.0", "1e-3", "0.25", "0.5" }) {
      conf.set(KEY, value);
      assertEquals(Double.parseDouble(value), reader.fractionIn(KEY, 1, 0, 0.5), 0);
    }
  }

  @Test
  public void testFractionsBeyondTheRangeAreRejected() {
    for (String value : new String[] { "-0.001", "0.501", "NaN", "Infinity", "-Infinity", "half",
      "0,5" }) {
      assertRejected(value, "hbase.x is " + value + "; must be a number from 0 to 0.5. Set a "
        + "number in this range, or remove the key for the default of 0.25.",
        () -> reader.fractionIn(KEY, 0.25, 0, 0.5));
    }
    assertRejected("-1", "hbase.x is -1; must be a number from 0 to 1000000. Set a number in this "
      + "range, or remove the key for the default of 0.",
      () -> reader.fractionIn(KEY, 0, 0, 1e6));
  }

  @Test
  public void testOnlyTheListedWordsAreAccepted() {
    for (String value : new String[] { "row", " region " }) {
      conf.set(KEY, value);
      assertEquals(value.trim(), reader.oneOf(KEY, "row", "row", "region"));
    }
    assertRejected("Row", "hbase.x is Row; must be row or region. Set one of these, or remove the "
      + "key for the default of row.", () -> reader.oneOf(KEY, "row", "row", "region"));
    assertRejected("d", "hbase.x is d; must be a, b or c. Set one of these, or remove the key.",
      () -> reader.oneOf(KEY, null, "a", "b", "c"));
  }

  @Test
  public void testRemedyOfTheCallerIsSaid() {
    assertRejected("0", "hbase.x is 0; must be an integer from 1 to 9. Buy one.",
      () -> reader.intIn(KEY, 5, 1, 9, "Buy one"));
    assertRejected("0", "hbase.x is 0; must be an integer of at least 1. Buy one.",
      () -> reader.longIn(KEY, 5, 1, Long.MAX_VALUE, "Buy one"));
    assertRejected("0", "hbase.x is 0; must be a number from 1 to 9. Buy one.",
      () -> reader.fractionIn(KEY, 5, 1, 9, "Buy one"));
  }

  @Test
  public void testValueThatIsNotInAConfiguration() {
    assertEquals(1, SettingsReader.parseLong(KEY, " 1 ", 1, 9, "Buy one"));
    assertEquals(9, SettingsReader.parseLong(KEY, "9", 1, 9, "Buy one"));
    for (String value : new String[] { "0", "10", "" }) {
      assertEquals("hbase.x is " + value + "; must be an integer from 1 to 9. Buy one.",
        assertThrows(IllegalArgumentException.class,
          () -> SettingsReader.parseLong(KEY, value, 1, 9, "Buy one")).getMessage());
    }
  }

  @Test
  public void testRequiredKeyThatIsMissingIsNotSet() {
    assertEquals("hbase.x is not set; must be a path. Set it.",
      SettingsReader.rejected(KEY, null, "a path", "Set it").getMessage());
  }

  @Test
  public void testVariablesAreReplacedAsInConfiguration() {
    conf.set("hbase.y", "3");
    conf.set(KEY, "${hbase.y}");
    assertEquals(3, reader.intIn(KEY, 5, 1, 9));
  }
}
