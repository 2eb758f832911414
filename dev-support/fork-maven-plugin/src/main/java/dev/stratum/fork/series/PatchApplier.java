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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.ObjectInserter;

/**
 * Applies edits exactly: the file must be the one that the patch was made against, every hunk's
 * old lines must stand at the stated line, and nothing is searched for. A zero-context hunk that
 * only inserts has no old lines to compare, so the blob id of the {@code index} line is what
 * proves that it lands where its author put it.
 * <p>
 * JGit's {@code PatchApplier} (6.10) does not do that. It ignores the {@code index} line, so it
 * inserts into any file that is long enough; it refuses a hunk without context that only deletes,
 * and lines that end in a carriage return; a hunk past the end of the file is an
 * {@code IndexOutOfBoundsException}; and its errors name the hunk's header, but neither the line of
 * the patch nor what to do.
 */
public final class PatchApplier {

  private static final String ANEW =
    "run fork:checkout, which merges it into the changed file, and then fork:rebuild";

  private PatchApplier() {
  }

  /**
   * Applies one edit.
   * @param patch the patch's name for messages
   * @param tree  content by path; changed in place
   */
  public static void apply(String patch, FileEdit edit, Map<String, byte[]> tree) {
    byte[] before = null;
    if (edit.kind() == FileEdit.Kind.ADD) {
      if (tree.containsKey(edit.newPath())) {
        throw new ForkException("%s line %d adds %s, which exists already; edit it instead.",
          patch, edit.line(), edit.newPath());
      }
    } else {
      before = tree.get(edit.oldPath());
      if (before == null) {
        throw new ForkException("%s line %d edits %s, which is neither in the base nor left by an "
          + "earlier patch; correct the path or the order in patches/series.", patch, edit.line(),
          edit.oldPath());
      }
      if (edit.kind() == FileEdit.Kind.RENAME && tree.containsKey(edit.newPath())) {
        throw new ForkException("%s line %d renames %s to %s, which exists already; choose "
          + "another name.", patch, edit.line(), edit.oldPath(), edit.newPath());
      }
      checkBlob(patch, edit, before);
    }
    byte[] after = apply(patch, edit, before == null ? new byte[0] : before);
    if (edit.newPath() == null && !edit.hunks().isEmpty() && after.length > 0) {
      throw new ForkException("%s line %d deletes %s but leaves %d bytes of it; %s.", patch,
        edit.line(), edit.oldPath(), after.length, ANEW);
    }
    if (edit.oldPath() != null) {
      tree.remove(edit.oldPath());
    }
    if (edit.newPath() != null) {
      tree.put(edit.newPath(), after);
    }
  }

  /** Returns the git blob id of {@code content} in hexadecimal. */
  public static String blobId(byte[] content) {
    try (ObjectInserter.Formatter formatter = new ObjectInserter.Formatter()) {
      return formatter.idFor(Constants.OBJ_BLOB, content).name();
    }
  }

  private static void checkBlob(String patch, FileEdit edit, byte[] before) {
    if (edit.oldBlob() == null) {
      for (Hunk hunk : edit.hunks()) {
        if (hunk.oldLines().isEmpty()) {
          throw new ForkException("%s line %d only inserts into %s and has no 'index' line, so its "
            + "place cannot be proved; keep the 'index' line that git diff writes.", patch,
            hunk.patchLine(), edit.oldPath());
        }
      }
    } else if (!blobId(before).startsWith(edit.oldBlob())) {
      throw new ForkException("%s line %d was made against another %s (blob %s, here %s) because "
        + "the base or an earlier patch has changed; %s.", patch, edit.line(), edit.oldPath(),
        edit.oldBlob(), blobId(before).substring(0, edit.oldBlob().length()), ANEW);
    }
  }

  private static byte[] apply(String patch, FileEdit edit, byte[] before) {
    List<byte[]> from = Lines.split(before);
    List<byte[]> to = new ArrayList<>();
    int done = 0;
    for (Hunk hunk : edit.hunks()) {
      int start = hunk.oldIndex();
      if (start < done || start + hunk.oldLines().size() > from.size()) {
        throw new ForkException("%s line %d does not fit %s, which has %d lines; %s.", patch,
          hunk.patchLine(), edit.path(), from.size(), ANEW);
      }
      to.addAll(from.subList(done, start));
      if (to.size() != hunk.newIndex()) {
        throw new ForkException("%s line %d says that its new lines begin at line %d of %s, but "
          + "the hunks before it put them at line %d; %s.", patch, hunk.patchLine(),
          hunk.newIndex() + 1, edit.path(), to.size() + 1, ANEW);
      }
      for (int i = 0; i < hunk.oldLines().size(); i++) {
        if (!Arrays.equals(hunk.oldLines().get(i), from.get(start + i))) {
          throw new ForkException("%s line %d does not match line %d of %s; %s.", patch,
            hunk.patchLine(), start + i + 1, edit.path(), ANEW);
        }
      }
      to.addAll(hunk.newLines());
      done = start + hunk.oldLines().size();
    }
    to.addAll(from.subList(done, from.size()));
    return Lines.join(to);
  }
}
