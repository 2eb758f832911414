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

import dev.stratum.fork.series.PatchFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.eclipse.jgit.diff.DiffFormatter;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;

/** Patches as {@code git format-patch --no-stat} writes them, with three lines of context. */
public final class MailPatch {
  static final int CONTEXT = 3;
  private static final int BODY_WIDTH = 72;
  private static final DateTimeFormatter DATE = DateTimeFormatter
    .ofPattern("EEE, d MMM yyyy HH:mm:ss Z", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final GitStore store;
  private final PersonIdent author;
  private final Instant time;
  private final String signature;

  MailPatch(GitStore store, PersonIdent author, Instant time, String signature) {
    this.store = store;
    this.author = author;
    this.time = time;
    this.signature = signature;
  }

  /**
   * What a patch says above its diff.
   * @param subject  the first line of the commit's message
   * @param body     the other lines, each with its newline; may be empty
   * @param position the patch's position among those that it is sent with, such as {@code  2/3}
   * @param note     lines that do not become part of the commit's message; may be empty
   */
  record Text(String subject, String body, String position, String note) {
  }

  /**
   * Returns the patch that leads from one tree to another.
   * @param said   what it says above its diff
   * @param commit the commit that the first line names
   */
  byte[] write(Text said, ObjectId before, ObjectId after, ObjectId commit) throws IOException {
    StringBuilder head = new StringBuilder("From ").append(commit.name())
      .append(" Mon Sep 17 00:00:00 2001\nFrom: ").append(author.getName()).append(" <")
      .append(author.getEmailAddress()).append(">\nDate: ").append(DATE.format(time))
      .append("\nSubject: [PATCH").append(said.position()).append("] ").append(said.subject())
      .append('\n');
    if (!StandardCharsets.US_ASCII.newEncoder().canEncode(head + said.body() + said.note())) {
      head.append("MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        + "Content-Transfer-Encoding: 8bit\n");
    }
    head.append('\n').append(said.body()).append("---\n").append(said.note())
      .append(said.note().isEmpty() ? "\n" : "\n\n");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(head.toString().getBytes(StandardCharsets.UTF_8));
    try (DiffFormatter formatter = store.formatter(out, CONTEXT)) {
      formatter.setDetectRenames(true);
      formatter.format(before, after);
    }
    out.writeBytes(("-- \n" + signature + "\n\n").getBytes(StandardCharsets.UTF_8));
    return out.toByteArray();
  }

  /** Returns the reason of a patch in lines for a message, with an empty line at the end. */
  static String description(PatchFile patch) {
    String reason = patch.header().reason();
    return reason.isEmpty() ? "" : wrap(reason, BODY_WIDTH) + "\n";
  }

  /** Returns the text in lines of at most {@code width} characters, each with its newline. */
  public static String wrap(String text, int width) {
    StringBuilder lines = new StringBuilder();
    int used = 0;
    for (String word : text.split(" ")) {
      if (used > 0) {
        boolean fits = used + 1 + word.length() <= width;
        lines.append(fits ? ' ' : '\n');
        used = fits ? used + 1 : 0;
      }
      lines.append(word);
      used += word.length();
    }
    return lines.append('\n').toString();
  }
}
