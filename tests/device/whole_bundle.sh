#!/bin/sh
# Writes the whole bundle, runs all of it but the measurements on the interpreter of PTX for one
# architecture or each, makes its runner from the sources in it, and says how large it is: what a
# night has time for.
#
#   tests/device/whole_bundle.sh BUILD FOLDER [ARCHITECTURE…]
#
# Exit status 1 where a case is not right, the runner is not made, or 40 MB are too few.
set -eu
[ $# -ge 2 ] || { sed -n '6p' "$0" >&2; exit 2; }
fovea=$(cd "$1" && pwd)/fovea folder=$2
shift 2
[ $# -gt 0 ] || set -- sm_80 sm_90 sm_90a
seconds() { date +%s; }
start=$(seconds)
"$fovea" bundle -o "$folder"
echo "written in $(($(seconds) - start)) s"
bytes=$(tar c --sort=name --exclude '*.jsonl*' -C "$folder" . | xz -6 | wc -c)
echo "compressed: $bytes bytes"
result=0
[ "$bytes" -le 40000000 ] || result=1
start=$(seconds)
# shellcheck disable=SC2046
"${CXX:-g++}" -std=c++20 -O1 -fopenmp -I"$folder/src" $(find "$folder/src" -name '*.cpp') \
    -o "$folder/runner.made" -ldl -lpthread || result=1
echo "runner made in $(($(seconds) - start)) s"
rm -f "$folder/runner.made"
for architecture in "$@"; do
    start=$(seconds)
    FOVEA=$fovea "$folder/check.sh" --interpreter --arch "$architecture" || result=1
    echo "$architecture: $(($(seconds) - start)) s"
done
exit $result
