#!/bin/sh
# What takes too long for every change, with the seconds that each part takes: `sh tests/nightly.sh`.
# The last line says which parts failed.
set -u
cd "$(dirname "$0")/.."
failed=""
part() { # NAME COMMAND...
    name=$1; shift
    start=$(date +%s)
    "$@" || failed="$failed $name"
    echo "nightly: $name took $(($(date +%s) - start)) s"
}
build() { # FOLDER OPTIONS...: builds there
    folder=$1; shift
    cmake -G Ninja -S . -B "$folder" -DFOVEA_PRECOMPILE=ON -DFOVEA_UNITY=ON "$@" >/dev/null \
        && cmake --build "$folder" -j "$(nproc)"
}
sanitized() { # the runtime's tests, with the sanitizers in themselves too
    build build-sanitize -DFOVEA_SANITIZE=ON && ctest --test-dir build-sanitize -R '^runtime$' \
        --output-on-failure
}
clang() { # all tests, whole, of a build by the other compiler
    build build-clang -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 \
        && FOVEA_WHOLE=1 ctest --test-dir build-clang -j "$(nproc)" --output-on-failure
}
readers() { # a minute each
    sh tests/readers/run.sh 60 || [ $? = 2 ]
}
arm() {
    sh tests/arm/whole.sh || [ $? = 2 ]
}
part tidy sh tools/tidy.sh
part clang clang
part verify build-clang/fovea verify --all
part verify_ptx build-clang/fovea verify --all --target ptx-interpreter
part sanitized sanitized
part readers readers
part arm arm
part bundle sh tests/device/whole_bundle.sh build build/whole_bundle
[ -z "$failed" ] || { echo "nightly: failed:$failed"; exit 1; }
echo "nightly: all passed"
