#!/bin/sh
# clang-tidy 19 with the settings in .clang-tidy: `sh tools/tidy.sh [FILE...]`, by default all.
# The compile commands are those of the folder BUILD (default build-tidy, made without precompiled
# headers). The last line counts the findings; the status is 1 where there is one.
set -eu
cd "$(dirname "$0")/.."
command -v clang-tidy-19 >/dev/null || { echo "clang-tidy-19 is not installed"; exit 2; }
build=${BUILD:-build-tidy}
cmake -G Ninja -S . -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DFOVEA_PRECOMPILE=OFF \
    -DCMAKE_CXX_COMPILER="${CXX:-clang++-19}" >/dev/null
[ $# -gt 0 ] || set -- $(git ls-files '*.cpp' | grep -Ev '/cases/|^tests/golden/|^tools/peers/')
found=$(mktemp)
trap 'rm -f "$found"' EXIT
printf '%s\n' "$@" | xargs -n 1 -P "$(nproc)" nice clang-tidy-19 -p "$build" --quiet 2>/dev/null \
    | tee "$found" || true
# A finding in a header is reported for every file that includes it.
count=$(grep -E '^[^ ]+:[0-9]+:[0-9]+: (warning|error):' "$found" | sort -u | wc -l)
echo "$count findings"
[ "$count" -eq 0 ]
