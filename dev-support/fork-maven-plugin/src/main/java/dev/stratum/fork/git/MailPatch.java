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
package dev.stratum.fork.git;

import dev.stratum.fork.series.Lines;
import dev.stratum.fork.series.PatchFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.eclipse.jgit.diff.DiffEntry;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.lib.ObjectId;

/** A patch as {@code git format-patch} writes it, with three lines of context. */
public final class MailPatch {
  private static final int BODY_WIDTH = 72;
  private static final int NAME_WIDTH = 60;
  private static final int GRAPH_WIDTH = 20;
  private static final DateTimeFormatter DATE = DateTimeFormatter
    .ofPattern("EEE, d MMM yyyy HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final GitStore store;
  private final String author;
  private final Instant time;
  private final String signature;

  /**
   * @param store     what has the trees
   * @param author    who the patch is from, as {@code Name <mail>}
   * @param time      the date of the patch
   * @param signature the last line
   */
  public MailPatch(GitStore store, String author, Instant time, String signature) {
    this.store = store;
    this.author = author;
    this.time = time;
    this.signature = signature;
  }

  /**
   * What a patch says above its diff.
   * @param subject the first line of the commit's message
   * @param body    the other lines, each with its newline; may be empty
   * @param place   the patch's place among those that it is sent with, such as {@code  2/3}
   * @param note    lines that do not become part of the commit's message; may be empty
   */
  record Text(String subject, String body, String place, String note) {
  }

  /**
   * Returns the patch that leads from one tree to another.
   * @param patch  whose header becomes the message
   * @param commit the commit that the first line names
   */
  byte[] write(PatchFile patch, ObjectId before, ObjectId after, ObjectId commit)
    throws IOException {
    return write(new Text(subject(patch), body(patch), "", ""), before, after, commit);
  }

  /**
   * Returns the patch that leads from one tree to another.
   * @param said   what it says above its diff
   * @param commit the commit that the first line names
   */
  byte[] write(Text said, ObjectId before, ObjectId after, ObjectId commit) throws IOException {
    DiffWriter diffs = new DiffWriter(store, DiffWriter.CONTEXT);
    List<DiffEntry> entries = diffs.entries(before, after, rename -> true);
    ByteArrayOutputStream sections = new ByteArrayOutputStream();
    List<Stat> stats = new ArrayList<>();
    for (DiffEntry entry : entries) {
      byte[] section = diffs.section(entry);
      sections.writeBytes(section);
      stats.add(Stat.of(entry, section));
    }
    StringBuilder text = new StringBuilder();
    text.append("From ").append(commit.name()).append(" Mon Sep 17 00:00:00 2001\n");
    text.append("From: ").append(author).append('\n');
    text.append("Date: ").append(DATE.format(time)).append('\n');
    text.append("Subject: [PATCH").append(said.place()).append("] ").append(said.subject())
      .append('\n');
    if (!StandardCharsets.US_ASCII.newEncoder().canEncode(text + said.body() + said.note())) {
      text.append("MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        + "Content-Transfer-Encoding: 8bit\n");
    }
    text.append('\n').append(said.body()).append("---\n");
    if (!said.note().isEmpty()) {
      text.append(said.note()).append('\n');
    }
    summary(stats, text);
    text.append('\n');
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(text.toString().getBytes(StandardCharsets.UTF_8));
    out.writeBytes(sections.toByteArray());
    out.writeBytes(("-- \n" + signature + "\n\n").getBytes(StandardCharsets.UTF_8));
    return out.toByteArray();
  }

  private static String subject(PatchFile patch) {
    String subject = patch.header().subject();
    String issue = patch.header().jira();
    return issue == null || subject.contains(issue) ? subject : issue + " " + subject;
  }

  private static String body(PatchFile patch) {
    StringBuilder body = new StringBuilder(description(patch));
    if (!patch.header().needs().isEmpty()) {
      body.append("Applies after: ").append(String.join(", ", patch.header().needs()))
        .append("\n\n");
    }
    return body.toString();
  }

  /** Returns the reason of a patch in lines for a message, with an empty line at the end. */
  static String description(PatchFile patch) {
    StringBuilder body = new StringBuilder();
    String reason = patch.header().reason().replaceFirst("(?i)^to be upstreamed[.;:,]? *", "");
    int width = 0;
    for (String word : reason.split(" ")) {
      if (width > 0 && width + 1 + word.length() > BODY_WIDTH) {
        body.append('\n');
        width = 0;
      }
      body.append(width > 0 ? " " : "").append(word);
      width += (width > 0 ? 1 : 0) + word.length();
    }
    if (body.length() > 0) {
      body.append("\n\n");
    }
    return body.toString();
  }

  private static void summary(List<Stat> stats, StringBuilder text) {
    int added = 0;
    int removed = 0;
    int most = 1;
    int widest = 0;
    for (Stat stat : stats) {
      added += stat.added;
      removed += stat.removed;
      most = Math.max(most, stat.added + stat.removed);
      widest = Math.max(widest, stat.shown().length());
    }
    int digits = String.valueOf(most).length();
    for (Stat stat : stats) {
      text.append(String.format(" %-" + widest + "s | %" + digits + "d %s%s", stat.shown(),
        stat.added + stat.removed, graph("+", stat.added, most), graph("-", stat.removed, most))
        .stripTrailing()).append('\n');
    }
    text.append(String.format(" %d file%s changed", stats.size(), stats.size() == 1 ? "" : "s"));
    if (added > 0 || removed == 0) {
      text.append(String.format(", %d insertion%s(+)", added, added == 1 ? "" : "s"));
    }
    if (removed > 0 || added == 0) {
      text.append(String.format(", %d deletion%s(-)", removed, removed == 1 ? "" : "s"));
    }
    text.append('\n');
    for (Stat stat : stats) {
      text.append(stat.note);
    }
  }

  private static String graph(String sign, int count, int most) {
    int length = most <= GRAPH_WIDTH ? count : (count * GRAPH_WIDTH + most - 1) / most;
    return sign.repeat(length);
  }

  /** How much one file changed. */
  private record Stat(String path, int added, int removed, String note) {

    static Stat of(DiffEntry entry, byte[] section) {
      int added = 0;
      int removed = 0;
      boolean inHunk = false;
      for (byte[] line : Lines.split(section)) {
        inHunk |= line[0] == '@';
        added += inHunk && line[0] == '+' ? 1 : 0;
        removed += inHunk && line[0] == '-' ? 1 : 0;
      }
      ChangeType type = entry.getChangeType();
      return switch (type) {
        case ADD -> new Stat(entry.getNewPath(), added, removed,
          " create mode 100644 " + entry.getNewPath() + "\n");
        case DELETE -> new Stat(entry.getOldPath(), added, removed,
          " delete mode 100644 " + entry.getOldPath() + "\n");
        case RENAME -> new Stat(entry.getNewPath(), added, removed, String.format(
          " rename %s => %s (%d%%)\n", entry.getOldPath(), entry.getNewPath(), entry.getScore()));
        default -> new Stat(entry.getNewPath(), added, removed, "");
      };
    }

    String shown() {
      if (path.length() <= NAME_WIDTH) {
        return path;
      }
      String end = path.substring(path.length() - NAME_WIDTH + 3);
      int slash = end.indexOf('/');
      return "..." + (slash < 0 ? end : end.substring(slash));
    }
  }
}
