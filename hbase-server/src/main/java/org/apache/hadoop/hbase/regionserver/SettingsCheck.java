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
package org.apache.hadoop.hbase.regionserver;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.prefetch.PrefetchLimit;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Reports, before a RegionServer starts, which of its settings would prevent the start or would be
 * ignored. It calls the classes that read them, so the messages are those of the server:
 *
 * <pre>
 * bin/hbase org.apache.hadoop.hbase.regionserver.SettingsCheck
 * </pre>
 *
 * A line that begins with <code>refused</code> is an invalid setting, one that begins with
 * <code>warning</code> is about settings with which the server starts. Must be run as the server's
 * user, with the server's memory options: the validity of settings depends on both. The exit code
 * is 0 if no setting is refused, 1 otherwise.
 * <p>
 * A class of hbase-server whose name ends in Settings participates if it has a public static method
 * <code>check(Configuration)</code> or <code>of(Configuration)</code> that throws
 * {@link IllegalArgumentException}; if it also has <code>isEnabled(Configuration)</code>, it is
 * called only if that returns true. If it has a public static method <code>List&lt;String&gt;
 * warnings(Configuration)</code>, the returned sentences are printed, too.
 */
@InterfaceAudience.Private
public final class SettingsCheck {
  private static final long MB = 1 << 20;
  private static final String PACKAGE = "org/apache/hadoop/hbase/";
  private static final String SUFFIX = "Settings.class";

  private interface Check {
    void run() throws Exception;
  }

  private SettingsCheck() {
  }

  public static void main(String[] args) {
    Configuration conf = HBaseConfiguration.create();
    List<String> refused = refused(conf);
    System.out.println("memory heap " + Runtime.getRuntime().maxMemory() / MB + " MB, direct "
      + DirectMemoryUtils.getDirectMemorySize() / MB + " MB");
    refused.forEach(sentence -> System.out.println("refused " + sentence));
    warnings(conf).forEach(sentence -> System.out.println("warning " + sentence));
    System.exit(refused.isEmpty() ? 0 : 1);
  }

  /** Returns one sentence per group of invalid settings, empty if all are valid. */
  static List<String> refused(Configuration conf) {
    List<String> refused = new ArrayList<>();
    ask(refused, () -> MemorySizeUtil.validateRegionServerHeapMemoryAllocation(conf));
    for (String name : settingsClasses()) {
      ask(refused, () -> ask(Class.forName(name), conf));
    }
    ask(refused, () -> ByteBuffAllocator.create(conf, true).clean());
    String limit = conf.get(PrefetchLimit.FULL_MAX_BYTES_KEY);
    if (limit != null) {
      ask(refused,
        () -> PrefetchLimit.check(TableDescriptorBuilder.newBuilder(TableName.META_TABLE_NAME)
          .setValue(PrefetchLimit.FULL_MAX_BYTES_KEY, limit).build()));
    }
    return refused;
  }

  /** Returns the warnings about settings with which a server starts, one sentence each. */
  static List<String> warnings(Configuration conf) {
    List<String> warnings = new ArrayList<>();
    for (String name : settingsClasses()) {
      ask(warnings, () -> {
        Class<?> settings = Class.forName(name);
        Method said = method(settings, "warnings");
        if (said != null && isEnabled(settings, conf)) {
          ((List<?>) said.invoke(null, conf)).forEach(sentence -> warnings.add((String) sentence));
        }
      });
    }
    return warnings;
  }

  private static void ask(List<String> refused, Check check) {
    try {
      check.run();
    } catch (InvocationTargetException e) {
      refused.add(sentence(e.getCause()));
    } catch (Exception e) {
      refused.add(sentence(e));
    }
  }

  private static String sentence(Throwable e) {
    String message = e.getMessage() == null ? "" : e.getMessage().trim().replaceAll("\\s+", " ");
    // The message of an exception for the operator suffices; for others, the type is added.
    return e instanceof IllegalArgumentException && !(e instanceof NumberFormatException)
      && !message.isEmpty() ? message : e.getClass().getSimpleName() + ": " + message;
  }

  private static void ask(Class<?> settings, Configuration conf)
    throws ReflectiveOperationException {
    if (!isEnabled(settings, conf)) {
      return;
    }
    Method check = method(settings, "check");
    if (check == null) {
      check = method(settings, "of");
    }
    if (check != null) {
      check.invoke(null, conf);
    }
  }

  private static boolean isEnabled(Class<?> settings, Configuration conf)
    throws ReflectiveOperationException {
    Method enabled = method(settings, "isEnabled");
    return enabled == null || (Boolean) enabled.invoke(null, conf);
  }

  private static Method method(Class<?> type, String name) {
    try {
      Method method = type.getMethod(name, Configuration.class);
      return Modifier.isStatic(method.getModifiers()) ? method : null;
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  /** Returns the names of the classes of this jar, or directory, that end in Settings. */
  static List<String> settingsClasses() {
    TreeSet<String> names = new TreeSet<>();
    try {
      File origin = new File(
        SettingsCheck.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      if (origin.isFile()) {
        try (JarFile jar = new JarFile(origin)) {
          jar.stream().forEach(entry -> add(names, entry.getName()));
        }
      } else {
        Path folder = origin.toPath();
        try (Stream<Path> files = Files.walk(folder)) {
          files.forEach(file -> add(names,
            folder.relativize(file).toString().replace(File.separatorChar, '/')));
        }
      }
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException("Cannot list the settings classes", e);
    }
    return new ArrayList<>(names);
  }

  private static void add(TreeSet<String> names, String entry) {
    if (entry.startsWith(PACKAGE) && entry.endsWith(SUFFIX) && entry.indexOf('$') < 0) {
      names.add(entry.substring(0, entry.length() - ".class".length()).replace('/', '.'));
    }
  }
}
