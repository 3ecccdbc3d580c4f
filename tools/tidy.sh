#!/bin/sh
# clang-tidy 19 with the settings in .clang-tidy: `sh tools/tidy.sh [--quick] [--changed N | FILE...]`,
# by default all files that the build compiles. --quick leaves the static analyzer out, which takes
# most of the time; --changed takes at most N of the files that differ from the last commit but one.
# The last line counts the findings; the status is 1 where there is one, 2 without clang-tidy-19.
# All files are looked at in the batches of a unity build, which parses their headers once a batch;
# the compile commands are those of the folder BUILD (default build-tidy).
set -eu
cd "$(dirname "$0")/.."
command -v clang-tidy-19 >/dev/null || { echo "clang-tidy-19 is not installed"; exit 2; }
build=${BUILD:-build-tidy} batches=ON checks=
if [ "${1:-}" = --quick ]; then checks=--checks=-clang-analyzer-*; shift; fi
if [ "${1:-}" = --changed ]; then
    changed=$({ git diff --name-only HEAD~1 2>/dev/null || true; } | grep '\.cpp$' \
        | grep -v -e /cases/ -e ^tests/readers/ | head -n "$2" || true)
    set --
    for file in $changed; do [ ! -f "$file" ] || set -- "$@" "$file"; done
    [ $# -gt 0 ] || { echo "no file has changed"; echo "0 findings"; exit 0; }
fi
[ $# -eq 0 ] || batches=OFF
cmake -G Ninja -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DFOVEA_TESTS=ON \
    -DFOVEA_PRECOMPILE=OFF -DFOVEA_UNITY=$batches -DCMAKE_CXX_COMPILER="${CXX:-clang++-19}" >/dev/null
[ $# -gt 0 ] || set -- $(sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" | sort -u)
found=$(mktemp)
trap 'rm -f "$found"' EXIT
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" nice clang-tidy-19 -p "$build" --quiet $checks \
    --extra-arg=-Wno-deprecated-declarations 2>/dev/null \
    | tee "$found" || true
# A finding in a header is reported for every file that includes it.
count=$(grep -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error):' "$found" | sort -u | wc -l)
echo "$count findings"
[ "$count" -eq 0 ]
