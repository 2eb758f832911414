#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file
# except in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Makes a release in a local folder, and checks it; see --help.
set -eu

help() {
  cat << 'END'
usage: dev-support/release.sh --url URL [--folder DIR] [--skip-tests]

Builds the committed state twice, in two clones with a repository of their own, compares the
results, and puts the release into DIR (target/release/files):

  stratum-VERSION.tar.gz   the archive for operators, with .sha256 and .sha512
  bom.json                 the bill of materials
  maven/                   the three jars with POMs, sources and Javadoc, as a Maven repository
  CHECKLIST                what was checked, and the commit

--url is the https address at which the repository is published. The POMs name it, as Maven Central
requires.

Takes as long as mvn install and ten minutes more; --skip-tests leaves out the tests, and the
checklist says so. Ends with an exit code other than 0 at the first check that fails.
END
}

fail() { echo "release: $1" >&2; exit 1; }

unpack() {
  mkdir -p "$2"
  (cd "$2" && jar xf "$1")
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$root/target/release
files=$work/files
tests=
url=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) help; exit 0 ;;
    --folder)
      [ $# -gt 1 ] || fail "--folder takes a folder."
      mkdir -p "$2"
      files=$(cd "$2" && pwd -P)
      shift ;;
    --url)
      [ $# -gt 1 ] || fail "--url takes an address."
      url=$2
      shift ;;
    --skip-tests) tests=-DskipTests ;;
    *) help >&2; fail "unknown argument '$1'" ;;
  esac
  shift
done
case $url in
  https://?*) ;;
  *) fail "--url must be the https address of the published repository." ;;
esac
cd "$root"
checklist=$work/CHECKLIST

step=0
check() {
  step=$((step + 1))
  echo "[$step] $*"
  printf '%2d  %s\n' "$step" "$*" >> "$checklist"
}

rm -rf "$work"
mkdir -p "$work" "$files"
[ -z "$(ls -A "$files")" ] || fail "$files is not empty; name another folder, or empty it."

commit=$(git rev-parse HEAD)
version=$(sed -n 's|.*<fork.version>\(.*\)</fork.version>.*|\1|p' pom.xml)
printf 'Stratum %s, commit %s\n\n' "$version" "$commit" > "$checklist"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed."
check "nothing is uncommitted"
grep -q "^## $version\$" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'."
check "CHANGELOG.md has a section for $version"

build() {
  clone=$work/$1
  shift
  git clone -q "$root" "$clone"
  (cd "$clone" && mvn -B -ntp -Dmaven.repo.local="$work/repository" \
    -Drepository.url="$url" "$@") > "$clone.log" 2>&1 ||
    fail "the build failed; see $clone.log"
}

if [ -n "$tests" ]; then
  build first install -DskipTests
  check "mvn install -DskipTests in a clone with an empty repository; the tests were left out"
else
  build first install
  check "mvn install, with all tests, in a clone with an empty repository"
fi
build second install -DskipTests
archive=stratum-$version.tar.gz
cmp "$work/first/dev-support/dist/target/$archive" "$work/second/dev-support/dist/target/$archive" ||
  fail "two builds of the commit have different archives."
check "the archives of two builds in different folders are identical, byte for byte"

(cd "$work/first" && mvn -B -ntp -Dmaven.repo.local="$work/repository" -Prelease deploy -DskipTests \
  -Drepository.url="$url" -pl hbase-common,hbase-client,hbase-server \
  -DaltDeploymentRepository="release::file://$files/maven") > "$work/deploy.log" 2>&1 ||
  fail "the deployment failed; see $work/deploy.log"
for module in common client server; do
  jars=$files/maven/org/apache/hbase/hbase-$module/$version/hbase-$module-$version
  for file in "$jars.jar" "$jars.pom" "$jars-sources.jar" "$jars-javadoc.jar"; do
    [ -s "$file" ] && [ -s "$file.sha1" ] || fail "$file or its checksum is missing."
  done
  unpack "$jars.jar" "$work/deployed/$module"
  unpack "$work/second/hbase-$module/target/hbase-$module-$version.jar" "$work/built/$module"
  # A deployed jar has the POM that is published, without the parent of this repository.
  diff -r -x pom.xml "$work/deployed/$module" "$work/built/$module" ||
    fail "$jars.jar is not the jar that was tested."
  [ "$(grep -cF "$url</" "$jars.pom")" = 3 ] || fail "$jars.pom lacks url or scm with $url."
  ! grep -q "stratum-module-parent" "$jars.pom" || fail "$jars.pom has a parent that is not published."
  # The major version of Java 8 is 52.
  jar tf "$jars.jar" > "$work/entries"
  class=$(grep -m 1 '^org/apache/hadoop/hbase/.*[.]class$' "$work/entries")
  (cd "$work" && jar xf "$jars.jar" "$class")
  [ "$(od -An -tu1 -j7 -N1 "$work/$class" | tr -d ' ')" = 52 ] ||
    fail "$class of $jars.jar is not for Java 8."
  for file in META-INF/LICENSE META-INF/NOTICE; do
    grep -q "^$file" "$work/entries" || fail "$jars.jar has no $file."
  done
done
check "jars, POMs, sources, Javadoc and checksums are in maven/; the jars are those of the archive, but for the POM in them"
check "the classes are for Java 8; each jar has LICENSE and NOTICE"

cp "$work/first/dev-support/dist/target/$archive" "$files"
tar -xzf "$files/$archive" -C "$work"
(cd "$work/stratum-$version" && sha256sum -c --quiet SHA256SUMS) ||
  fail "a file of the archive does not match SHA256SUMS."
cp "$work/stratum-$version/bom.json" "$files"
grep -q '"bomFormat" *: *"CycloneDX"' "$files/bom.json" || fail "bom.json is no bill of materials."
(cd "$files" && sha256sum "$archive" > "$archive.sha256" && sha512sum "$archive" > "$archive.sha512")
check "the archive's files match their checksums; bill of materials and checksums are beside it"

printf '\nLeft to do by hand: sign the files, tag the commit, publish.\n' >> "$checklist"
cp "$checklist" "$files"
echo "release: $files"
