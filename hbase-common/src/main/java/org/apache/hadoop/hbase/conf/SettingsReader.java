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

import java.util.Arrays;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reads settings strictly: a key that is not set, or whose value is empty, has its default, and any
 * other value is valid or rejected. Spaces around a value are ignored, as in {@link Configuration}.
 * In contrast to it, a boolean is <code>true</code> or <code>false</code> in any case, as a
 * misspelt value must not become the default silently.
 * <p>
 * A value is rejected with an {@link IllegalArgumentException} with key, value, range and remedy:
 * <code>hbase.x.handlers is 0; must be an integer from 1 to 128. Set a number in this range, or
 * remove the key for the default of 30.</code>
 * <p>
 * Not for keys of the base: a value that it accepts must not stop a server. Reads the configuration
 * at each call. As thread-safe as the configuration.
 */
@InterfaceAudience.Private
public final class SettingsReader {
  private static final String NUMBER_REMEDY = "Set a number in this range, or remove the key";
  private static final String CHOICE_REMEDY = "Set one of these, or remove the key";

  private final Configuration conf;

  private SettingsReader(Configuration conf) {
    this.conf = conf;
  }

  public static SettingsReader of(Configuration conf) {
    return new SettingsReader(conf);
  }

  /** Returns the value without spaces around it, null if it is not set or empty. */
  public String text(String key) {
    String value = conf.getTrimmed(key);
    return value == null || value.isEmpty() ? null : value;
  }

  /** @throws IllegalArgumentException if the value is neither true nor false */
  public boolean flag(String key, boolean defaultValue) {
    String value = text(key);
    if (value == null) {
      return defaultValue;
    }
    switch (value.toLowerCase(Locale.ROOT)) {
      case "true":
        return true;
      case "false":
        return false;
      default:
        throw rejected(key, value, "true or false", orDefault(CHOICE_REMEDY, defaultValue));
    }
  }

  /**
   * Reads an integer like {@link #intIn(String, int, int, int, String)}; the remedy names the
   * default.
   */
  public int intIn(String key, int defaultValue, int min, int max) {
    return intIn(key, defaultValue, min, max, orDefault(NUMBER_REMEDY, defaultValue));
  }

  /**
   * Reads an integer.
   * @param min    the smallest valid value
   * @param max    the largest valid value; {@link Integer#MAX_VALUE} for no limit
   * @param remedy a sentence without its full stop
   * @throws IllegalArgumentException if the value is not an integer from min to max
   */
  public int intIn(String key, int defaultValue, int min, int max, String remedy) {
    String value = text(key);
    if (value == null) {
      return defaultValue;
    }
    return (int) parse(key, value, min, max, max == Integer.MAX_VALUE, remedy);
  }

  /**
   * Reads a long like {@link #longIn(String, long, long, long, String)}; the remedy names the
   * default.
   */
  public long longIn(String key, long defaultValue, long min, long max) {
    return longIn(key, defaultValue, min, max, orDefault(NUMBER_REMEDY, defaultValue));
  }

  /**
   * Reads an integer.
   * @param min    the smallest valid value
   * @param max    the largest valid value; {@link Long#MAX_VALUE} for no limit
   * @param remedy a sentence without its full stop
   * @throws IllegalArgumentException if the value is not an integer from min to max
   */
  public long longIn(String key, long defaultValue, long min, long max, String remedy) {
    String value = text(key);
    return value == null ? defaultValue : parseLong(key, value, min, max, remedy);
  }

  /**
   * Returns the integer of a value that is not in a configuration, such as that of a table
   * descriptor.
   * @param max    the largest valid value; {@link Long#MAX_VALUE} for no limit
   * @param remedy a sentence without its full stop
   * @throws IllegalArgumentException if the value is not an integer from min to max
   */
  public static long parseLong(String key, String value, long min, long max, String remedy) {
    return parse(key, value.trim(), min, max, max == Long.MAX_VALUE, remedy);
  }

  private static long parse(String key, String value, long min, long max, boolean unlimited,
    String remedy) {
    try {
      long number = Long.parseLong(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The value is rejected below.
    }
    throw rejected(key, value,
      "an integer " + (unlimited ? "of at least " + min : "from " + min + " to " + max), remedy);
  }

  /**
   * Reads a fraction like {@link #fractionIn(String, double, double, double, String)}; the remedy
   * names the default.
   */
  public double fractionIn(String key, double defaultValue, double min, double max) {
    return fractionIn(key, defaultValue, min, max,
      orDefault(NUMBER_REMEDY, decimal(defaultValue)));
  }

  /**
   * Reads a number that may have a fraction.
   * @param min    the smallest valid value
   * @param max    the largest valid value
   * @param remedy a sentence without its full stop
   * @throws IllegalArgumentException if the value is not a number from min to max
   */
  public double fractionIn(String key, double defaultValue, double min, double max,
    String remedy) {
    String value = text(key);
    if (value == null) {
      return defaultValue;
    }
    try {
      double number = Double.parseDouble(value);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException e) {
      // The value is rejected below.
    }
    throw rejected(key, value, "a number from " + decimal(min) + " to " + decimal(max), remedy);
  }

  /**
   * Reads one of several words, in exactly this spelling.
   * @param defaultValue may be null
   * @param allowed      two words or more
   * @throws IllegalArgumentException if the value is none of them
   */
  public String oneOf(String key, String defaultValue, String... allowed) {
    String value = text(key);
    if (value == null) {
      return defaultValue;
    }
    if (Arrays.asList(allowed).contains(value)) {
      return value;
    }
    int last = allowed.length - 1;
    throw rejected(key, value,
      String.join(", ", Arrays.copyOf(allowed, last)) + " or " + allowed[last],
      defaultValue == null ? CHOICE_REMEDY : orDefault(CHOICE_REMEDY, defaultValue));
  }

  /**
   * Returns the exception for a value that is not valid.
   * @param value  null if the key is not set, although it is required
   * @param range  continues "must be": the valid values
   * @param remedy a sentence without its full stop
   */
  public static IllegalArgumentException rejected(String key, Object value, String range,
    String remedy) {
    return new IllegalArgumentException(
      key + " is " + (value == null ? "not set" : value) + "; must be " + range + ". " + remedy
        + ".");
  }

  private static String orDefault(String remedy, Object defaultValue) {
    return remedy + " for the default of " + defaultValue;
  }

  /** Returns 1000000 and not 1000000.0 or 1.0E7. */
  private static String decimal(double number) {
    return number == (long) number ? String.valueOf((long) number) : String.valueOf(number);
  }
}
