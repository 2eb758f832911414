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

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.MethodInvocation;

/** Writes the calls of JUnit 4's TemporaryFolder for a folder that JUnit 5 made. */
final class TestFolderCalls {
  private static final String FILES = "java.nio.file.Files";

  private TestFolderCalls() {
  }

  static void replace(MethodInvocation call, String folder, String text,
    Map<String, String> imported, TextEdits edits, Set<ImportLines.Import> needed,
    Set<String> reasons) {
    List<?> arguments = call.arguments();
    String name = call.getName().getIdentifier();
    if (name.equals("getRoot")) {
      edits.replace(call, folder);
      return;
    }
    if (name.equals("newFile") && arguments.isEmpty()) {
      needed.add(ImportLines.Import.of("java.io.File"));
      edits.replace(call, "File.createTempFile(\"junit\", null, " + folder + ")");
      return;
    }
    if (!Set.of("newFile", "newFolder").contains(name)) {
      reasons.add("it calls " + name + " of its folder");
      return;
    }
    String files = "Files";
    if (FILES.equals(imported.getOrDefault(files, FILES))) {
      needed.add(ImportLines.Import.of(FILES));
    } else {
      files = FILES;
    }
    if (arguments.isEmpty()) {
      edits.replace(call,
        files + ".createTempDirectory(" + folder + ".toPath(), \"junit\").toFile()");
      return;
    }
    StringBuilder path = new StringBuilder(folder + ".toPath()");
    for (Object argument : arguments) {
      ASTNode node = (ASTNode) argument;
      path.append(".resolve(").append(text, node.getStartPosition(), TextEdits.end(node))
        .append(')');
    }
    String create = name.equals("newFile") ? ".createFile(" : ".createDirectories(";
    edits.replace(call, files + create + path + ").toFile()");
  }
}
