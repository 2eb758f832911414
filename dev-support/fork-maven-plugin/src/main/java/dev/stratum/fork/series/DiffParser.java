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
package dev.stratum.fork.series;

import dev.stratum.fork.ForkException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jgit.util.QuotedString;

/**
 * Reads the {@code diff --git} sections of a patch. Strict: what it does not know is an error that
 * names the line, and the lines of a hunk must be as many as its header says. JGit's {@code Patch}
 * skips what it does not know, and its errors name an offset in bytes.
 */
public final class DiffParser {
  private static final Pattern HUNK =
    Pattern.compile("@@ -(\\d+)(?:,(\\d+))? \\+(\\d+)(?:,(\\d+))? @@.*", Pattern.DOTALL);
  private static final Pattern INDEX =
    Pattern.compile("index ([0-9a-f]+)\\.\\.([0-9a-f]+)(?: \\d+)?");
  private static final String NO_NEWLINE = "\\";

  private final String patch;
  private final boolean contextAllowed;
  private List<byte[]> lines;
  private int at;

  /**
   * @param patch          the patch's name for messages
   * @param contextAllowed whether hunks may have context lines
   */
  public DiffParser(String patch, boolean contextAllowed) {
    this.patch = patch;
    this.contextAllowed = contextAllowed;
  }

  /** Reads a diff with or without lines of text, as of an e-mail's head, above it. */
  public List<FileEdit> parseBelowHead(byte[] content) {
    List<byte[]> all = Lines.split(content);
    int first = 0;
    while (first < all.size()
      && !new String(all.get(first), StandardCharsets.UTF_8).startsWith("diff --git ")) {
      first++;
    }
    return parse(all, first);
  }

  /** Reads the sections from {@code first} to the end of {@code all}. */
  public List<FileEdit> parse(List<byte[]> all, int first) {
    lines = all;
    at = first;
    List<FileEdit> edits = new ArrayList<>();
    Set<String> paths = new HashSet<>();
    while (at < lines.size()) {
      if (text().isEmpty()) {
        at++;
        continue;
      }
      if (text().equals("-- ")) {
        break; // The signature below an e-mailed patch.
      }
      FileEdit edit = section();
      if (!paths.add(edit.path())
        || edit.kind() == FileEdit.Kind.RENAME && !paths.add(edit.oldPath())) {
        throw problem(edit.line(), "edits %s a second time; put both edits in one section",
          edit.path());
      }
      edits.add(edit);
    }
    return edits;
  }

  private FileEdit section() {
    int start = at;
    if (!text().startsWith("diff --git ")) {
      throw problem(at + 1, "is no part of a diff: '%s'; remove it", text());
    }
    at++;
    FileEdit.Kind kind = FileEdit.Kind.MODIFY;
    String oldPath = null;
    String newPath = null;
    String blob = null;
    for (; at < lines.size(); at++) {
      String line = text();
      Matcher index = INDEX.matcher(line);
      if (index.matches()) {
        blob = index.group(1);
      } else if (line.startsWith("new file mode ")) {
        kind = FileEdit.Kind.ADD;
      } else if (line.startsWith("deleted file mode ")) {
        kind = FileEdit.Kind.DELETE;
      } else if (line.startsWith("rename from ")) {
        kind = FileEdit.Kind.RENAME;
        oldPath = unquote(line.substring("rename from ".length()));
      } else if (line.startsWith("rename to ")) {
        newPath = unquote(line.substring("rename to ".length()));
      } else if (line.startsWith("copy from ")) {
        throw problem(at + 1, "copies a file; add the copy as a source file of this repository "
          + "and name it in 'Adds:'");
      } else if (line.startsWith("old mode ") || line.startsWith("new mode ")) {
        throw problem(at + 1, "changes a file's mode, which a jar does not keep; remove the mode "
          + "lines");
      } else if (line.startsWith("GIT binary patch") || line.startsWith("Binary files ")) {
        throw binary();
      } else if (!line.startsWith("similarity index ") && !line.startsWith("dissimilarity ")) {
        break;
      }
    }
    if (at + 1 < lines.size() && text().startsWith("--- ")) {
      String before = path(text().substring(4), "a/");
      oldPath = oldPath != null ? oldPath : before;
      at++;
      if (!text().startsWith("+++ ")) {
        throw problem(at + 1, "lacks the '+++ ' line after '--- '; make the diff anew");
      }
      String after = path(text().substring(4), "b/");
      newPath = newPath != null ? newPath : after;
      at++;
    } else if (oldPath == null) {
      // Neither hunks nor a rename: an empty file, or a deletion without its content.
      String path = pathOfGitLine(start);
      oldPath = kind == FileEdit.Kind.ADD ? null : path;
      newPath = kind == FileEdit.Kind.DELETE ? null : path;
    }
    if (at < lines.size() && text().startsWith("Binary files ")) {
      throw binary();
    }
    List<Hunk> hunks = new ArrayList<>();
    while (at < lines.size() && text().startsWith("@@ ")) {
      hunks.add(hunk());
    }
    if (hunks.isEmpty() && kind == FileEdit.Kind.MODIFY) {
      throw problem(start + 1, "changes nothing; remove the section");
    }
    if (kind == FileEdit.Kind.ADD) {
      oldPath = null;
    } else if (kind == FileEdit.Kind.DELETE) {
      newPath = null;
    }
    byte[] section = Lines.join(lines.subList(start, at));
    return new FileEdit(kind, oldPath, newPath, blob, hunks, start + 1, section);
  }

  private Hunk hunk() {
    int headerLine = at + 1;
    Matcher header = HUNK.matcher(text());
    if (!header.matches()) {
      throw problem(headerLine, "is no hunk header: '%s'; make the diff anew", text());
    }
    int oldCount = count(header.group(2));
    int newCount = count(header.group(4));
    List<byte[]> oldLines = new ArrayList<>();
    List<byte[]> newLines = new ArrayList<>();
    int context = 0;
    at++;
    while (at < lines.size() && (oldLines.size() < oldCount || newLines.size() < newCount)) {
      byte[] line = lines.get(at);
      byte[] body = Arrays.copyOfRange(line, Math.min(1, line.length), line.length);
      if (at + 1 < lines.size() && lines.get(at + 1)[0] == NO_NEWLINE.charAt(0)) {
        body = Arrays.copyOf(body, body.length - 1);
        at++;
      }
      switch (line[0]) {
        case '-' -> oldLines.add(body);
        case '+' -> newLines.add(body);
        case ' ' -> {
          if (!contextAllowed) {
            throw problem(headerLine, "has lines of context; make the diff with zero of them "
              + "(git diff -U0, or fork:rebuild)");
          }
          context++;
          oldLines.add(body);
          newLines.add(body);
        }
        default -> throw problem(at + 1, "ends in the middle of a hunk; make the diff anew");
      }
      at++;
    }
    if (oldLines.size() != oldCount || newLines.size() != newCount) {
      throw problem(headerLine, "says %d old and %d new lines but has %d and %d; make the diff "
        + "anew", oldCount, newCount, oldLines.size(), newLines.size());
    }
    return new Hunk(headerLine, Integer.parseInt(header.group(1)), oldLines,
      Integer.parseInt(header.group(3)), newLines, context);
  }

  private static int count(String group) {
    return group == null ? 1 : Integer.parseInt(group);
  }

  private String pathOfGitLine(int line) {
    String names = string(line).substring("diff --git ".length());
    // Both names are the same here, so each is one half.
    int middle = names.length() / 2;
    return path(names.substring(0, middle), "a/");
  }

  private String path(String name, String prefix) {
    String path = unquote(name.endsWith("\t") ? name.substring(0, name.length() - 1) : name);
    if (path.equals("/dev/null")) {
      return null;
    }
    if (!path.startsWith(prefix)) {
      throw problem(at + 1, "has the path '%s', which should begin with '%s'; make the diff with "
        + "git's default prefixes", path, prefix);
    }
    return path.substring(prefix.length());
  }

  private static String unquote(String path) {
    return path.startsWith("\"") ? QuotedString.GIT_PATH.dequote(path) : path;
  }

  private String text() {
    return string(at);
  }

  private String string(int index) {
    String line = new String(lines.get(index), StandardCharsets.UTF_8);
    return line.endsWith("\n") ? line.substring(0, line.length() - 1) : line;
  }

  private ForkException binary() {
    return problem(at + 1, "changes a binary file, which is not supported; add the new file as a "
      + "resource of this repository and name it in 'Adds:'");
  }

  private ForkException problem(int line, String format, Object... args) {
    return new ForkException("%s line %d %s.", patch, line, String.format(format, args));
  }
}
