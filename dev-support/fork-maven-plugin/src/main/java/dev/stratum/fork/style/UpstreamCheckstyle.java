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

import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;

/** Compares changed lines with the rules that HBase publishes for Checkstyle. */
public final class UpstreamCheckstyle {
  private static final String RULES = "hbase/checkstyle.xml";
  private static final String SUPPRESSIONS = "hbase/checkstyle-suppressions.xml";
  private static final String MAIN = "com.puppycrawl.tools.checkstyle.Main";
  private static final Pattern LINE =
    Pattern.compile("\\[\\w+] (.*?\\.java):(\\d+)(?::\\d+)?: (.*) \\[(\\w+)]");
  private static final long LIMIT_MINUTES = 10;

  /**
   * One violation in a line that the patch brings.
   * @param path the file
   * @param line its line, from 1
   * @param rule Checkstyle's name of the rule
   * @param text what is wrong
   */
  public record Violation(String path, int line, String rule, String text) {
    @Override
    public String toString() {
      return path + ":" + line + ": " + text + " [" + rule + "]";
    }
  }

  private final List<Path> classPath;
  private final Path rules;

  /**
   * @param classPath the jars of Checkstyle
   * @param rules     the artifact hbase-checkstyle
   */
  UpstreamCheckstyle(List<Path> classPath, Path rules) {
    this.classPath = List.copyOf(classPath);
    this.rules = rules;
  }

  /**
   * Finds Checkstyle and the rules of a version of HBase in the Maven repositories.
   * @throws ForkException if the repositories do not have them
   */
  public static UpstreamCheckstyle resolve(RepositorySystem system,
    RepositorySystemSession session, List<RemoteRepository> repositories, String checkstyleVersion,
    String hbaseVersion) {
    Artifact tool =
      new DefaultArtifact("com.puppycrawl.tools", "checkstyle", "jar", checkstyleVersion);
    Artifact rules =
      new DefaultArtifact("org.apache.hbase", "hbase-checkstyle", "jar", hbaseVersion);
    try {
      List<Path> jars = system.resolveDependencies(session,
        new DependencyRequest(
          new CollectRequest(new Dependency(tool, "runtime"), repositories), null))
        .getArtifactResults().stream().map(one -> one.getArtifact().getFile().toPath()).toList();
      return new UpstreamCheckstyle(jars,
        system.resolveArtifact(session, new ArtifactRequest(rules, repositories, null))
          .getArtifact().getFile().toPath());
    } catch (DependencyResolutionException | ArtifactResolutionException e) {
      throw new ForkException("%s or %s is in none of the Maven repositories (%s); check the "
        + "network and the version.", tool, rules, e.getMessage());
    }
  }

  /**
   * Checks the Java files that differ between two trees.
   * @param before the tree before the patch, by repository path
   * @param after  the exported tree
   * @param folder where to write the files for Checkstyle
   * @return the violations in lines that differ
   */
  public List<Violation> check(SortedMap<String, byte[]> before, SortedMap<String, byte[]> after,
    Path folder) throws IOException {
    Map<String, IntPredicate> changed = new HashMap<>();
    Path sources = folder.resolve("sources").toAbsolutePath();
    for (Map.Entry<String, byte[]> file : after.entrySet()) {
      byte[] old = before.get(file.getKey());
      if (file.getKey().endsWith(".java") && !Arrays.equals(old, file.getValue())) {
        Path target = sources.resolve(file.getKey());
        Files.createDirectories(target.getParent());
        Files.write(target, file.getValue());
        changed.put(file.getKey(), Braces.changed(LineDiff.between(
          old == null ? "" : JavaText.text(old), JavaText.text(file.getValue()))));
      }
    }
    List<Violation> violations = new ArrayList<>();
    if (changed.isEmpty()) {
      return violations;
    }
    for (String line : run(folder, sources, changed.keySet().stream().sorted().toList())) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches()) {
        String path = sources.relativize(Path.of(matcher.group(1))).toString().replace('\\', '/');
        int number = Integer.parseInt(matcher.group(2));
        if (changed.get(path).test(number - 1)) {
          violations.add(new Violation(path, number, matcher.group(4), matcher.group(3)));
        }
      }
    }
    return violations;
  }

  private List<String> run(Path folder, Path sources, List<String> paths) throws IOException {
    Path config = extract(folder);
    Path arguments = folder.resolve("arguments.txt");
    List<String> lines = new ArrayList<>();
    lines.add("-cp " + quoted(classPath.stream().map(Path::toString)
      .collect(Collectors.joining(System.getProperty("path.separator")))));
    lines.add(MAIN);
    lines.add("-c " + quoted(config.toString()));
    paths.forEach(path -> lines.add(quoted(sources.resolve(path).toString())));
    Files.write(arguments, lines);
    Path output = folder.resolve("output.txt");
    Process process = new ProcessBuilder(
      Path.of(System.getProperty("java.home"), "bin", "java").toString(), "@" + arguments)
      .redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
        throw new ForkException("Checkstyle was not through after %s minutes.", LIMIT_MINUTES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    } finally {
      process.destroyForcibly();
    }
    List<String> report = Files.readAllLines(output, StandardCharsets.UTF_8);
    if (report.isEmpty() || !report.contains("Audit done.")) {
      throw new ForkException("Checkstyle failed: %s", String.join(" ", report));
    }
    return report;
  }

  private static String quoted(String argument) {
    return '"' + argument.replace("\\", "\\\\") + '"';
  }

  /** Writes the rules into a file, with the published exceptions as a filter. */
  private Path extract(Path folder) throws IOException {
    Files.createDirectories(folder);
    Path exceptions = folder.resolve("suppressions.xml").toAbsolutePath();
    Path config = folder.resolve("rules.xml").toAbsolutePath();
    try (ZipFile zip = new ZipFile(rules.toFile())) {
      Files.writeString(exceptions, entry(zip, SUPPRESSIONS));
      String all = entry(zip, RULES);
      int end = all.lastIndexOf("</module>");
      Files.writeString(config, all.substring(0, end)
        + "<module name=\"SuppressionFilter\"><property name=\"file\" value=\"" + exceptions
        + "\"/></module>\n" + all.substring(end));
    }
    return config;
  }

  private String entry(ZipFile zip, String name) throws IOException {
    ZipEntry entry = zip.getEntry(name);
    if (entry == null) {
      throw new ForkException("%s has no %s.", rules, name);
    }
    return new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
  }
}
