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
package dev.stratum.fork.style;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.eclipse.jdt.core.ToolFactory;
import org.eclipse.jdt.core.formatter.CodeFormatter;
import org.eclipse.jdt.core.formatter.DefaultCodeFormatterConstants;
import org.eclipse.jface.text.BadLocationException;
import org.eclipse.jface.text.Document;
import org.eclipse.text.edits.TextEdit;

/** Lays Java out as HBase's formatter does. Not thread-safe. */
final class UpstreamFormatter {
  private static final String SETTINGS = "formatter.properties";
  private static final String PREFIX = "org.eclipse.jdt.core.formatter.";
  private static final int KIND =
    CodeFormatter.K_COMPILATION_UNIT | CodeFormatter.F_INCLUDE_COMMENTS;
  /** JDT may need a second look at what it wrapped. */
  private static final int MAX_ROUNDS = 5;

  private final CodeFormatter formatter =
    ToolFactory.createCodeFormatter(options(), ToolFactory.M_FORMAT_EXISTING);

  private static Map<String, String> options() {
    Properties settings = new Properties();
    try (InputStream in = UpstreamFormatter.class.getResourceAsStream(SETTINGS)) {
      settings.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // The file is in the jar.
    }
    Map<String, String> options =
      new HashMap<>(DefaultCodeFormatterConstants.getEclipseDefaultSettings());
    for (String name : settings.stringPropertyNames()) {
      if (options.put(PREFIX + name, settings.getProperty(name)) == null) {
        throw new IllegalStateException(SETTINGS + ": no option of JDT's formatter: " + name);
      }
    }
    JavaText.setVersion(options);
    return options;
  }

  /** Lays a whole file out; a file that does not parse stays as it is. */
  String format(String text) {
    String now = text;
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String next = once(now);
      if (next.equals(now)) {
        return now;
      }
      now = next;
    }
    return now;
  }

  /**
   * Lays out what a patch changed of a file and what has another nesting because of that. What the
   * formatter would change of the old file as well stays.
   */
  String format(String before, String after) {
    String current = after;
    List<LineDiff.Hunk> known = LineDiff.byLine(LineDiff.between(before, format(before)));
    for (int round = 0; round < MAX_ROUNDS; round++) {
      String next = changed(before, current, known);
      if (next.equals(current)) {
        return current;
      }
      current = next;
    }
    return current;
  }

  private String changed(String before, String after, List<LineDiff.Hunk> known) {
    List<LineDiff.Hunk> patch = LineDiff.between(before, after);
    List<LineDiff.Hunk> wanted = new ArrayList<>();
    for (LineDiff.Hunk hunk : LineDiff.byLine(LineDiff.between(after, format(after)))) {
      boolean upstreams = known.stream()
        .anyMatch(other -> other.oldStart() == hunk.oldStart() + moved(patch, hunk.oldStart())
          && other.oldText().equals(hunk.oldText()) && other.newText().equals(hunk.newText()));
      if (!upstreams || patch.stream().anyMatch(part -> overlap(part, hunk))) {
        wanted.add(hunk);
      }
    }
    return LineDiff.apply(after, wanted);
  }

  private static boolean overlap(LineDiff.Hunk patch, LineDiff.Hunk format) {
    return patch.newStart() < format.oldEnd() && format.oldStart() < patch.newEnd();
  }

  /** Returns the distance from a line of the new file to the same line of the old one. */
  private static int moved(List<LineDiff.Hunk> patch, int line) {
    int distance = 0;
    for (LineDiff.Hunk hunk : patch) {
      if (hunk.newEnd() <= line) {
        distance = hunk.oldEnd() - hunk.newEnd();
      }
    }
    return distance;
  }

  private String once(String text) {
    TextEdit edit = formatter.format(KIND, text, 0, text.length(), 0, "\n");
    if (edit == null) {
      return text;
    }
    Document document = new Document(text);
    try {
      edit.apply(document);
    } catch (BadLocationException e) {
      throw new IllegalStateException(e); // The edit was made for this text.
    }
    return document.get();
  }
}
