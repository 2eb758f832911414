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
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jgit.diff.DiffEntry.ChangeType;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectInserter;
import org.eclipse.jgit.patch.FileHeader;
import org.eclipse.jgit.patch.FormatError;
import org.eclipse.jgit.patch.HunkHeader;
import org.eclipse.jgit.patch.Patch;

/**
 * What a patch does to one file of the base: a section of a git diff with zero lines of context. It
 * is applied exactly. The file must be the one that the edit was made against, by the blob id of
 * the {@code index} line; only that proves the position of a hunk that only inserts.
 * <p>
 * JGit's {@code PatchApplier} (6.10) ignores that line, so it inserts into any file that is long
 * enough, and it refuses a hunk without context that only deletes.
 */
public final class FileEdit {
  private static final String ANEW =
    "run fork:checkout, which merges it into the changed file, and then fork:rebuild";

  private final String patch;
  private final FileHeader section;

  private FileEdit(String patch, FileHeader section) {
    this.patch = patch;
    this.section = section;
  }

  /**
   * Reads a diff, with or without text above it.
   * @return the edits in order; each path at most once
   */
  public static List<FileEdit> parse(String patch, byte[] content) {
    Patch parsed = new Patch();
    parsed.parse(content, 0, content.length);
    List<FileEdit> edits = new ArrayList<>();
    Set<String> paths = new HashSet<>();
    for (FileHeader file : parsed.getFiles()) {
      FileEdit edit = new FileEdit(patch, file);
      edit.check();
      if (!paths.add(edit.path())) {
        throw edit.problem(file.getStartOffset(), "edits %s a second time; put both edits in one "
          + "section", edit.path());
      }
      edits.add(edit);
    }
    for (FormatError error : parsed.getErrors()) {
      throw new ForkException("%s line %d: %s; make the diff anew.", patch,
        line(content, error.getOffset()), error.getMessage());
    }
    return edits;
  }

  private void check() {
    int start = section.getStartOffset();
    if (type() == ChangeType.RENAME || type() == ChangeType.COPY) {
      throw problem(start, "renames or copies a file; delete it, add the other one as a source "
        + "file of this repository, and name it in 'Adds:'");
    }
    if (type() == ChangeType.MODIFY && section.getOldMode() != section.getNewMode()) {
      throw problem(start,
        "changes a file's mode, which a jar does not keep; remove the mode lines");
    }
    if (section.getPatchType() != FileHeader.PatchType.UNIFIED) {
      throw problem(start, "changes nothing or a binary file, which is not supported; add the new "
        + "file as a resource of this repository and name it in 'Adds:'");
    }
    if (type() != ChangeType.ADD && section.getOldId() == null) {
      throw problem(start, "has no 'index' line, so where it belongs cannot be proved; keep "
        + "the 'index' line that git diff writes");
    }
    for (HunkHeader hunk : section.getHunks()) {
      if (hunk.getLinesContext() > 0) {
        throw problem(hunk.getStartOffset(), "has lines of context; make the diff with zero of "
          + "them (git diff -U0, or fork:rebuild)");
      }
    }
  }

  /** Returns the path of the file. */
  public String path() {
    return type() == ChangeType.DELETE ? section.getOldPath() : section.getNewPath();
  }

  /** Returns what becomes of the file: it is added, modified or deleted. */
  public ChangeType type() {
    return section.getChangeType();
  }

  /** Returns the bytes of the section as they stand in the patch. */
  public byte[] section() {
    return Arrays.copyOfRange(section.getBuffer(), section.getStartOffset(),
      section.getEndOffset());
  }

  /** Returns the lines that are removed, after a minus, and added, after a plus, in order. */
  public List<byte[]> lines() {
    List<byte[]> lines = new ArrayList<>();
    section.getHunks().forEach(hunk -> lines.addAll(lines(hunk)));
    return lines;
  }

  /**
   * Applies the edit.
   * @param tree content by path; changed in place
   */
  public void apply(Map<String, byte[]> tree) {
    int start = section.getStartOffset();
    byte[] before = tree.get(path());
    if (type() == ChangeType.ADD && before != null) {
      throw problem(start, "adds %s, which exists already; edit it instead", path());
    }
    if (type() != ChangeType.ADD && before == null) {
      throw problem(start, "edits %s, which is neither in the base nor left by an earlier patch; "
        + "correct the path or the order in patches/series", path());
    }
    if (before != null && !isMadeAgainst(before)) {
      throw problem(start, "was made against another %s (blob %s, here %s) because the base or an "
        + "earlier patch has changed; %s", path(), section.getOldId().name(),
        blobId(before).abbreviate(section.getOldId().length()).name(), ANEW);
    }
    if (type() == ChangeType.DELETE) {
      tree.remove(path());
    } else {
      tree.put(path(), edited(before == null ? new byte[0] : before));
    }
  }

  private byte[] edited(byte[] before) {
    List<byte[]> from = split(before);
    ByteArrayOutputStream to = new ByteArrayOutputStream();
    int done = 0;
    for (HunkHeader hunk : section.getHunks()) {
      HunkHeader.OldImage old = hunk.getOldImage();
      // A side without lines is stated by the line above it, any other one by its first line.
      int start = old.getStartLine() - (old.getLineCount() == 0 ? 0 : 1);
      if (start < done || start + old.getLineCount() > from.size()) {
        throw problem(hunk.getStartOffset(), "does not fit %s, which has %d lines; %s", path(),
          from.size(), ANEW);
      }
      from.subList(done, start).forEach(to::writeBytes);
      done = start;
      for (byte[] line : lines(hunk)) {
        byte[] text = Arrays.copyOfRange(line, 1, line.length);
        if (line[0] == '+') {
          to.writeBytes(text);
        } else if (Arrays.equals(text, from.get(done))) {
          done++;
        } else {
          throw problem(hunk.getStartOffset(), "does not match line %d of %s; %s", done + 1, path(),
            ANEW);
        }
      }
    }
    from.subList(done, from.size()).forEach(to::writeBytes);
    return to.toByteArray();
  }

  /** Returns whether the edit was made against a file with this content. */
  boolean isMadeAgainst(byte[] content) {
    return section.getOldId().prefixCompare(blobId(content)) == 0;
  }

  /** Returns the blob that the edit was made against, abbreviated. */
  String oldBlob() {
    return section.getOldId().name();
  }

  /** Returns the git blob id of {@code content}. */
  public static ObjectId blobId(byte[] content) {
    try (ObjectInserter.Formatter formatter = new ObjectInserter.Formatter()) {
      return formatter.idFor(Constants.OBJ_BLOB, content);
    }
  }

  private static List<byte[]> lines(HunkHeader hunk) {
    List<byte[]> lines = new ArrayList<>();
    for (byte[] line : split(Arrays.copyOfRange(hunk.getBuffer(), hunk.getStartOffset(),
      hunk.getEndOffset()))) {
      if (line[0] == '\\') {
        byte[] last = lines.remove(lines.size() - 1);
        lines.add(Arrays.copyOf(last, last.length - 1));
      } else {
        lines.add(line);
      }
    }
    return lines.subList(1, lines.size());
  }

  /** Returns the lines of {@code content}, each up to and including its newline. */
  private static List<byte[]> split(byte[] content) {
    List<byte[]> lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < content.length; i++) {
      if (content[i] == '\n' || i == content.length - 1) {
        lines.add(Arrays.copyOfRange(content, start, i + 1));
        start = i + 1;
      }
    }
    return lines;
  }

  private static int line(byte[] content, int offset) {
    return split(Arrays.copyOf(content, offset)).size() + 1;
  }

  /** Returns an exception that names the patch and the line of an offset in it. */
  ForkException problem(int offset, String format, Object... args) {
    return new ForkException("%s line %d %s.", patch, line(section.getBuffer(), offset),
      String.format(format, args));
  }

  /** Returns an exception that names the patch and the first line of the section. */
  ForkException problem(String format, Object... args) {
    return problem(section.getStartOffset(), format, args);
  }
}
