#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file
# except in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Builds the jars if they are stale and runs HBase from them on this machine; see --help.
set -eu

usage="usage: dev-support/run-local.sh [--once] [--rows N] [--l1-mb N] [--l2-mb N] [-Dkey=value ...]"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
local=dev-support/local/target
log=target/local/logs/build.log

fail() { echo "run-local: $1" >&2; exit "${2:-1}"; }
is_number() { case $1 in '' | *[!0-9]* | ??????????*) return 1 ;; esac; }

help() {
  cat << END
$usage

Builds the jars if they are stale, starts ZooKeeper, a master and a RegionServer from them, loads
YCSB's usertable, reads from it through two block cache tiers, prints what that gave and serves
until Ctrl-C. Everything is kept in target/local; delete that folder to begin anew.

  --once         stop after the table instead of serving
  --rows N       rows of usertable (200000)
  --l1-mb N      size of the first cache tier, in memory, in MB (256)
  --l2-mb N      size of the second cache tier, a file, in MB (1024)
  -Dkey=value    a key of the HBase configuration; may be repeated

HBASE_OPTS in the environment is added to the JVM's options (-Xmx1g and what the tiers need).
END
}

wrong() { fail "$1
$usage" 2; }

once=false rows=200000 l1_mb=256 l2_mb=1024
settings=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help; exit 0 ;;
    --once) once=true ;;
    --rows | --l1-mb | --l2-mb)
      is_number "${2:-}" || wrong "$1 takes a number of up to nine digits, not '${2:-}'"
      number=$((10#$2)) least=1
      # A bucket allocator needs four of its largest buckets for each bucket size.
      [ "$1" = --rows ] || least=32
      [ $number -ge $least ] || wrong "$1 is $number; it takes at least $least"
      case $1 in
        --rows) rows=$number ;;
        --l1-mb) l1_mb=$number ;;
        --l2-mb) l2_mb=$number ;;
      esac
      shift ;;
    -D?*=*) settings+=("${1#-D}") ;;
    *) wrong "unknown argument '$1'" ;;
  esac
  shift
done

cd "$root"
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
command -v "$java" > /dev/null || fail "no java found; install JDK 17 or set JAVA_HOME."
version=$("$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
[ "${version:-0}" -ge 17 ] || fail "$java is version ${version:-unknown}; JDK 17 is needed, set JAVA_HOME."

# The build writes stratum-local.jar last, whatever else it found up to date.
stale() {
  [ -f "$local/stratum-local.jar" ] || return 0
  [ -n "$(find pom.xml dev-support/module-parent/pom.xml \
      patches hbase-*/pom.xml hbase-*/src/main \
      dev-support/fork-maven-plugin/pom.xml dev-support/fork-maven-plugin/src/main \
      dev-support/local/pom.xml dev-support/local/src/main \
      -newer "$local/stratum-local.jar" 2> /dev/null | head -n 1)" ] && return 0
  # A class path into a local repository that has been cleared since.
  local jar missing=
  while IFS= read -r jar; do
    [ -e "$jar" ] || missing=$jar
  done < <(sed -n 's/^-cp "\(.*\)"$/\1/p' "$local/java.args" | tr ':' '\n')
  [ -n "$missing" ]
}

# Maven's output goes to the log; what is shown is each module and the count of downloads.
build() {
  command -v mvn > /dev/null || fail "no mvn found; install Maven 3.8 or later."
  mkdir -p "$(dirname "$log")"
  echo "building the jars (log: $root/$log)"
  local line downloads=0 errors=0 start=$SECONDS
  set -o pipefail
  mvn -B -DskipTests -Djapicmp.skip=true -pl dev-support/local -am package 2>&1 | tee "$log" |
    while IFS= read -r line; do
      case $line in
        *"Building Stratum"*"["*"/"*"]") printf '  %4d s  %s\n' $((SECONDS - start)) "${line#*Building }" ;;
        *"Downloaded from "*)
          downloads=$((downloads + 1))
          [ $((downloads % 100)) -ne 0 ] || printf '  %4d s    %d files downloaded\n' $((SECONDS - start)) $downloads ;;
        *"[ERROR]"*)
          errors=$((errors + 1))
          [ $errors -gt 8 ] || printf '%s\n' "$line" >&2 ;;
      esac
    done || fail "the build failed; its log is $root/$log"
  printf '  %4d s  built\n' $((SECONDS - start))
}

if stale; then build; fi

mkdir -p "$(dirname "$log")" ||
  fail "$root/$(dirname "$log") cannot be made; make it writable."
# Beside L1 the RPC servers' buffer pools and Netty live in direct memory.
exec "$java" "@$local/java.args" -Xmx1g "-XX:MaxDirectMemorySize=$((l1_mb + 512))m" \
  "-Dstratum.local.root=$root" "-Dstratum.local.folder=$root/target/local" \
  -Dstratum.local.once=$once -Dstratum.local.rows=$rows \
  -Dstratum.local.l1.mb=$l1_mb -Dstratum.local.l2.mb=$l2_mb \
  ${HBASE_OPTS:-} dev.stratum.local.RunLocal ${settings[@]+"${settings[@]}"}
