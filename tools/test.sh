#!/bin/sh
# Sets up, builds and runs all tests; the summary stands at the end. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
jobs=$(nproc)
mkdir -p build
cmake -G Ninja -S . -B build -DFOVEA_TESTS=ON -DFOVEA_PRECOMPILE=ON -DFOVEA_UNITY=ON >build/configure.log || { cat build/configure.log; exit 1; }
cmake --build build -j "$jobs"
# The same sources draw the same programs.
: "${FOVEA_SEED:=$(find dsl codegen runtime models tests tools -type f ! -name '*.pyc' | LC_ALL=C sort |
    xargs -d '\n' cat | cksum | cut -d ' ' -f 1 | cut -c 1-6)}"
export FOVEA_SEED
ctest --test-dir build -j "$jobs" --output-on-failure "$@"
