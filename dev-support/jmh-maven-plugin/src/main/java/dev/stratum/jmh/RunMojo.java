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
package dev.stratum.jmh;

import dev.stratum.childprocess.JvmCommand;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/**
 * Runs the module's JMH benchmarks alternately on the fork's jars and on the published ones, so
 * that one JVM works at a time, and prints one table of ratios. Results are left in
 * <code>target/jmh</code>: <code>fork.json</code> and <code>stock.json</code> as JMH writes them,
 * <code>summary.json</code>, <code>table.md</code> and <code>report.html</code>.
 */
@Mojo(name = "run", requiresDependencyResolution = ResolutionScope.RUNTIME)
@Execute(phase = LifecyclePhase.PROCESS_CLASSES)
public class RunMojo extends AbstractMojo {
  /** A regular expression to be found in a benchmark's full name; without it the headline set. */
  @Parameter(property = "jmh.include")
  private String include;

  /** What to hold the fork against: <code>stock</code>, or <code>none</code>. */
  @Parameter(property = "jmh.against", defaultValue = "stock")
  private String against;

  /** Parameter values instead of the benchmarks' own: <code>engine=file,mmap,size=32768</code>. */
  @Parameter(property = "jmh.params")
  private String params;

  /** How many JVMs per side, instead of the benchmarks' own number. */
  @Parameter(property = "jmh.forks")
  private Integer forks;

  /**
   * How many minutes there are: what would take longer is not begun, and the report has the rounds
   * that were.
   */
  @Parameter(property = "jmh.minutes")
  private Integer minutes;

  /** Two JVMs per side and short iterations, for a first look. */
  @Parameter(property = "jmh.quick", defaultValue = "false")
  private boolean quick;

  /**
   * The unit by which the sides alternate: <code>jvm</code>, one after the other, or
   * <code>iteration</code>, both alive and each idle while the other measures. The latter tells
   * sides apart on a machine whose speed changes from minute to minute.
   */
  @Parameter(property = "jmh.alternate", defaultValue = "jvm")
  private String alternate;

  /** Only print the benchmarks and their parameters. */
  @Parameter(property = "jmh.list", defaultValue = "false")
  private boolean list;

  /** <code>workloads</code>: end-to-end workloads on real servers, instead of JMH benchmarks. */
  @Parameter(property = "jmh.suite")
  private String suite;

  /** A regular expression to be found in a workload's name; without it all of them. */
  @Parameter(property = "workloads")
  private String workloads;

  /** Other values for the suite's sizes: <code>seconds=20,rounds=3</code>. */
  @Parameter(property = "workloads.with")
  private String workloadsWith;

  /** The version of the jars that the published ones replace on the stock side. */
  @Parameter(defaultValue = "${fork.version}", required = true, readonly = true)
  private String forkVersion;

  /** The published version. */
  @Parameter(defaultValue = "${base.version}", required = true, readonly = true)
  private String baseVersion;

  @Parameter(defaultValue = "${project}", required = true, readonly = true)
  private MavenProject project;

  @Parameter(defaultValue = "${repositorySystemSession}", required = true, readonly = true)
  private RepositorySystemSession session;

  @Component
  private RepositorySystem repositorySystem;

  private static final HostProcess.Times QUICK = new HostProcess.Times(2, 200);
  private static final int QUICK_FORKS = 2;
  /** The time limit for the headline set, with which its report is written within ten minutes. */
  private static final long HEADLINE_MILLIS = TimeUnit.SECONDS.toMillis(570);

  @Override
  public void execute() throws MojoExecutionException, MojoFailureException {
    if (project.getArtifacts().stream().noneMatch(a -> a.getArtifactId().equals("jmh-core"))) {
      getLog().info("No benchmarks in " + project.getArtifactId());
      return;
    }
    checkOptions();
    if (suite != null) {
      runSuite();
      return;
    }
    Path directory = Path.of(project.getBuild().getDirectory(), "jmh");
    Path tmpDir = directory.resolve("tmp");
    // The fork is first: it has every benchmark, and the list is its list.
    List<HostProcess> hosts = new ArrayList<>();
    Thread stop = new Thread(() -> hosts.forEach(HostProcess::close), "stop-jmh");
    try {
      delete(directory);
      Files.createDirectories(tmpDir);
      Runtime.getRuntime().addShutdownHook(stop);
      boolean beside = alternate.equals("iteration");
      hosts.add(new HostProcess("fork", classPath(), directory, tmpDir, beside));
      List<BenchmarkEntry> entries = hosts.get(0).list();
      if (list) {
        entries.forEach(this::print);
        return;
      }
      List<Trial> trials = new Selection(entries).choose(include, params);
      if (against.equals("stock")) {
        hosts.add(new HostProcess("stock", stockClassPath(), directory, tmpDir, beside));
      }
      Rounds rounds = new Rounds(forks != null ? forks : quick ? QUICK_FORKS : null);
      describe(trials, rounds);
      List<String> failures = measure(hosts, trials, rounds, tmpDir);
      for (HostProcess host : hosts) {
        host.write();
      }
      report(directory, features(trials));
      if (!failures.isEmpty()) {
        throw new MojoFailureException(failures.size() + " of " + trials.size()
          + " benchmarks failed and are not compared, the first being " + failures.get(0));
      }
    } catch (IllegalArgumentException | HostProcess.FailedException e) {
      throw new MojoFailureException(e.getMessage(), e);
    } catch (IOException e) {
      throw new MojoExecutionException("Benchmarks stopped: " + e.getMessage(), e);
    } finally {
      hosts.forEach(HostProcess::close);
      try {
        Runtime.getRuntime().removeShutdownHook(stop);
        delete(tmpDir);
      } catch (IllegalStateException | IOException e) {
        getLog().debug("Nothing to clean up while the JVM ends", e);
      }
    }
  }

  private void checkOptions() throws MojoFailureException {
    if (!against.equals("stock") && !against.equals("none")) {
      throw new MojoFailureException("jmh.against=" + against
        + " is not known: use 'stock' (the published jars) or 'none'");
    }
    if (!alternate.equals("jvm") && !alternate.equals("iteration")) {
      throw new MojoFailureException("jmh.alternate=" + alternate
        + " is not known: use 'jvm' (one JVM at a time) or 'iteration' (both sides' JVMs alive)");
    }
    if (suite != null && !suite.equals("workloads")) {
      throw new MojoFailureException("jmh.suite=" + suite
        + " is not known: use 'workloads', or leave it out for the JMH benchmarks");
    }
    if (forks != null && forks < 1) {
      throw new MojoFailureException("jmh.forks=" + forks + " is too few: use 1 or more");
    }
    if (minutes != null && minutes < 1) {
      throw new MojoFailureException("jmh.minutes=" + minutes + " is too few: use 1 or more");
    }
  }

  private void runSuite() throws MojoExecutionException, MojoFailureException {
    Path directory = Path.of(project.getBuild().getDirectory(), suite);
    Properties arguments = new Properties();
    for (String with : workloadsWith == null ? new String[0] : workloadsWith.split(",")) {
      int equals = with.indexOf('=');
      if (equals < 1) {
        throw new MojoFailureException("workloads.with=" + workloadsWith
          + " is not understood: use KEY=VALUE, with commas between several");
      }
      arguments.setProperty(with.substring(0, equals), with.substring(equals + 1));
    }
    arguments.setProperty("directory", directory.toAbsolutePath().toString());
    arguments.setProperty("fork.class.path", JvmCommand.path(classPath()));
    arguments.setProperty("stock.class.path", JvmCommand.path(stockClassPath()));
    arguments.setProperty("quick", Boolean.toString(quick));
    arguments.setProperty("list", Boolean.toString(list));
    arguments.setProperty("command", command());
    if (workloads != null) {
      arguments.setProperty("include", workloads);
    }
    try {
      if (!list) {
        delete(directory);
      }
      try (SuiteProcess process = new SuiteProcess(SuiteProcess.MAIN_CLASS, classPath(),
        arguments, directory)) {
        Thread stop = new Thread(process::close, "stop-suite");
        Runtime.getRuntime().addShutdownHook(stop);
        int code = process.await();
        Runtime.getRuntime().removeShutdownHook(stop);
        if (code != 0) {
          throw new MojoFailureException("Not all workloads gave a result: what was said is above,"
            + " the servers' logs are in " + directory.resolve("logs"));
        }
      }
    } catch (IOException e) {
      throw new MojoExecutionException("Workloads stopped: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MojoExecutionException("Workloads were interrupted", e);
    }
  }

  private List<File> classPath() {
    List<File> files = new ArrayList<>();
    files.add(new File(project.getBuild().getOutputDirectory()));
    project.getArtifacts().forEach(artifact -> files.add(artifact.getFile()));
    return files;
  }

  /** Returns the same class path with each of the fork's jars replaced by the published one. */
  private List<File> stockClassPath() throws MojoExecutionException, MojoFailureException {
    List<File> files = new ArrayList<>();
    files.add(new File(project.getBuild().getOutputDirectory()));
    int replaced = 0;
    for (Artifact artifact : project.getArtifacts()) {
      boolean forks = artifact.getVersion().equals(forkVersion)
        && artifact.getGroupId().equals("org.apache.hbase");
      files.add(forks ? resolve(artifact) : artifact.getFile());
      replaced += forks ? 1 : 0;
    }
    if (replaced == 0) {
      throw new MojoFailureException("No dependency of " + project.getArtifactId() + " is an HBase "
        + "jar of version " + forkVersion + ": there is nothing to hold against " + baseVersion);
    }
    return files;
  }

  private File resolve(Artifact artifact) throws MojoExecutionException {
    ArtifactRequest request = new ArtifactRequest(
      new DefaultArtifact(artifact.getGroupId(), artifact.getArtifactId(),
        artifact.getArtifactHandler().getExtension(), baseVersion),
      project.getRemoteProjectRepositories(), null);
    try {
      return repositorySystem.resolveArtifact(session, request).getArtifact().getFile();
    } catch (ArtifactResolutionException e) {
      throw new MojoExecutionException("The published " + artifact.getArtifactId() + " "
        + baseVersion + " cannot be had: " + e.getMessage(), e);
    }
  }

  private void print(BenchmarkEntry entry) {
    StringBuilder line = new StringBuilder(entry.shortName());
    entry.params().forEach(
      (name, values) -> line.append("  ").append(name).append('=')
        .append(String.join(",", values)));
    line.append(entry.headline() == null ? "" : "  [headline]");
    line.append(entry.forkOnly() ? "  [fork only]" : "");
    System.out.println(line);
  }

  /** Returns the feature of each benchmark of the headline set, by the benchmark's name. */
  private static Map<String, String> features(List<Trial> trials) {
    Map<String, String> features = new HashMap<>();
    for (Trial trial : trials) {
      if (trial.headline() != null) {
        features.put(trial.benchmark(), trial.headline().feature());
      }
    }
    return features;
  }

  private void describe(List<Trial> trials, Rounds rounds) {
    getLog().info("fork " + forkVersion
      + (against.equals("stock") ? " against stock " + baseVersion : ", alone") + "; "
      + Machine.describe());
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    if (load > 1) {
      getLog().warn(String.format("The machine is busy (load %.1f before the first benchmark): "
        + "expect wide intervals", load));
    }
    getLog().info(trials.size() + " benchmarks, up to "
      + trials.stream().mapToInt(rounds::most).max().orElse(0) + " JVMs each per side");
  }

  /**
   * Measures in rounds: in each, every trial in one JVM per side, the sides alternating at being
   * first.
   * @return what the trials that failed said
   */
  private List<String> measure(List<HostProcess> hosts, List<Trial> trials, Rounds rounds,
    Path tmpDir) throws IOException {
    Map<Trial, String> failures = new LinkedHashMap<>();
    int most = trials.stream().mapToInt(rounds::most).max().orElse(0);
    Countdown countdown = new Countdown();
    for (Trial trial : trials) {
      long millis = quick ? 2 * QUICK.iterations() * QUICK.millis() : trial.millis();
      countdown.add(trial, millis, rounds.of(trial) * (trial.forkOnly() ? 1 : hosts.size()));
    }
    TimeLimit limit = new TimeLimit(millisLimit(trials));
    Set<Trial> cut = new LinkedHashSet<>();
    long begin = System.nanoTime();
    for (int round = 0; round < most; round++) {
      for (Trial trial : trials) {
        if (round >= rounds.of(trial) || failures.containsKey(trial) || cut.contains(trial)) {
          continue;
        }
        long pairStart = System.nanoTime();
        if (!limit.leaves(trial, (pairStart - begin) / 1_000_000)) {
          cut.add(trial);
          countdown.drop(trial);
          continue;
        }
        countdown.atLeast(trial, hosts.size());
        List<HostProcess> pair = new ArrayList<>(trial.forkOnly() ? hosts.subList(0, 1) : hosts);
        Collections.rotate(pair, round);
        String failure = alternate.equals("iteration") && pair.size() > 1
          ? besideEachOther(pair, trial, round, countdown, rounds, tmpDir)
          : inTurn(pair, trial, round, countdown, rounds);
        if (failure != null) {
          failures.put(trial, failure);
          countdown.drop(trial);
        }
        limit.took(trial, (System.nanoTime() - pairStart) / 1_000_000);
      }
    }
    if (!cut.isEmpty()) {
      getLog().warn("The time ended before all rounds of " + cut.size()
        + " benchmarks: the report has what was measured until then");
    }
    return List.copyOf(failures.values());
  }

  private long millisLimit(List<Trial> trials) {
    if (minutes != null) {
      return TimeUnit.MINUTES.toMillis(minutes);
    }
    return trials.stream().allMatch(trial -> trial.headline() != null)
      ? HEADLINE_MILLIS
      : Long.MAX_VALUE;
  }

  /** Returns what the first side that failed said, or null. */
  private String inTurn(List<HostProcess> pair, Trial trial, int round, Countdown countdown,
    Rounds rounds) throws IOException {
    Map<String, Double> scores = new HashMap<>();
    for (HostProcess host : pair) {
      long start = System.nanoTime();
      try {
        HostProcess.Score score = host.run(trial, quick ? QUICK : null, null);
        scores.put(host.side(), score.value());
        done(countdown, trial, round, host, score, System.nanoTime() - start);
      } catch (HostProcess.FailedException e) {
        return failed(trial, host, e);
      }
    }
    add(rounds, trial, scores);
    return null;
  }

  private static void add(Rounds rounds, Trial trial, Map<String, Double> scores) {
    if (scores.size() == 2) {
      rounds.add(trial, scores.get("stock"), scores.get("fork"));
    }
  }

  /** Returns what the first side that failed said, or null. */
  private String besideEachOther(List<HostProcess> pair, Trial trial, int round,
    Countdown countdown, Rounds rounds, Path tmpDir) throws IOException {
    HostProcess.Alternation alternation = new HostProcess.Alternation(
      Files.createTempDirectory(tmpDir, "alternation"), pair.get(0).side(), pair.get(1).side());
    long start = System.nanoTime();
    ExecutorService threads = Executors.newFixedThreadPool(pair.size());
    try {
      List<Future<HostProcess.Score>> running = new ArrayList<>();
      for (HostProcess host : pair) {
        running.add(threads.submit(() -> host.run(trial, quick ? QUICK : null, alternation)));
      }
      String failure = null;
      Map<String, Double> scores = new HashMap<>();
      for (int i = 0; i < pair.size(); i++) {
        try {
          HostProcess.Score score = running.get(i).get();
          scores.put(pair.get(i).side(), score.value());
          done(countdown, trial, round, pair.get(i), score,
            (System.nanoTime() - start) / pair.size());
        } catch (ExecutionException e) {
          if (e.getCause() instanceof IOException) {
            throw (IOException) e.getCause();
          }
          failure = failure != null ? failure : failed(trial, pair.get(i), e.getCause());
        }
      }
      add(rounds, trial, scores);
      return failure;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while " + trial + " was measured", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private void done(Countdown countdown, Trial trial, int round, HostProcess host,
    HostProcess.Score score, long nanos) {
    countdown.done(trial, nanos / 1_000_000);
    getLog().info(String.format("%s  round %d  %-5s  %s: %s in %d s", countdown, round + 1,
      host.side(), trial, score, TimeUnit.NANOSECONDS.toSeconds(nanos)));
  }

  private String failed(Trial trial, HostProcess host, Throwable e) {
    String failure = trial + " on " + host.side() + ": " + e.getMessage();
    getLog().error(failure + ", see " + host.log());
    return failure;
  }

  private void report(Path directory, Map<String, String> features) throws IOException {
    Path stockFile = HostProcess.resultFile(directory, "stock");
    Comparison comparison =
      new Comparison(Files.exists(stockFile) ? ResultFile.read(stockFile) : Map.of(),
        ResultFile.read(HostProcess.resultFile(directory, "fork")));
    RatioTable table = new RatioTable(comparison, features);
    System.out.println();
    table.lines().forEach(System.out::println);
    System.out.println();
    if (comparison.hasStock()) {
      System.out.println("ratio: how many times better the fork is; + and - mark those whose 99 % "
        + "interval leaves out 1: " + comparison.verdict() + ".");
    }
    String date = LocalDateTime.now().format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm"));
    String sides = comparison.hasStock()
      ? "HBase " + forkVersion + " against " + baseVersion
      : "HBase " + forkVersion;
    Files.writeString(directory.resolve("table.md"), table.markdown());
    Files.writeString(directory.resolve("summary.json"),
      Summary.json(comparison, forkVersion, baseVersion, command(), date));
    Path html = directory.resolve("report.html");
    Files.writeString(html, new HtmlReport(comparison).html(sides, command(), date));
    System.out.println("Report: " + html.toUri());
  }

  /** Returns the command that repeats this run. */
  private String command() {
    StringBuilder command =
      new StringBuilder("mvn -pl ").append(project.getBasedir().getName()).append(" jmh:run");
    if (suite != null) {
      command.append(" -Djmh.suite=").append(suite);
    }
    if (workloads != null) {
      command.append(" -Dworkloads='").append(workloads).append('\'');
    }
    if (workloadsWith != null) {
      command.append(" -Dworkloads.with=").append(workloadsWith);
    }
    if (include != null) {
      command.append(" -Djmh.include='").append(include).append('\'');
    }
    if (params != null) {
      command.append(" -Djmh.params=").append(params);
    }
    if (!against.equals("stock")) {
      command.append(" -Djmh.against=").append(against);
    }
    if (!alternate.equals("jvm")) {
      command.append(" -Djmh.alternate=").append(alternate);
    }
    if (forks != null) {
      command.append(" -Djmh.forks=").append(forks);
    }
    if (minutes != null) {
      command.append(" -Djmh.minutes=").append(minutes);
    }
    return quick ? command.append(" -Djmh.quick").toString() : command.toString();
  }

  private static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
