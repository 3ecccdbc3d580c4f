#!/bin/sh
# Readers of files against bytes that nobody meant for them, by libFuzzer (clang 19):
# `sh tests/readers/run.sh [SECONDS [NAME...]]` builds the targets (NAME_reader.cpp), runs each on
# its corpus, and then for SECONDS (default 5) on inputs made from it. New inputs that reach new code
# stay in BUILD/corpus (default build/readers). A crash, a leak, an exception that is no refusal, more
# than 25 s or 1 GB ends the run with status 1, and BUILD holds the input. Status 2: there is no clang
# with its runtime. What runs for a second is not worth the compiler's time, and not optimized.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build/readers} clang=${CLANG:-clang++-19} seconds=${1:-5}
[ $# -eq 0 ] || shift
optimized=-O1
[ "$seconds" -gt 1 ] || optimized=-O0
mkdir -p "$build"
if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, long) { return 0; }' |
    "$clang" -x c++ - -fsanitize=fuzzer,address,undefined -o "$build/probe" 2>/dev/null; then
    echo "readers: skipped, $clang has no libFuzzer (libclang-rt-19-dev)"
    exit 2
fi
[ $# -gt 0 ] || set -- $(cd tests/readers && ls *_reader.cpp | sed 's/_reader.cpp//')

is_current() { # NAME: nothing that it was built of is newer
    program=$build/$1$optimized
    [ -f "$program" ] && [ -f "$program.d" ] || return 1
    for file in $(sed -e 's/^[^:]*://' -e 's/\\$//' "$program.d"); do
        [ ! "$file" -nt "$program" ] || return 1
    done
}
compile() { # NAME
    is_current "$1" || "$clang" -std=c++20 $optimized -gline-tables-only -DNDEBUG -I. -Idsl \
        -MMD -MF "$build/$1$optimized.d" \
        -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
        "tests/readers/$1_reader.cpp" -o "$build/$1$optimized" -lfmt
}
for name in "$@"; do
    compile "$name"
    mkdir -p "$build/corpus/$name"
    dictionary=
    [ ! -f "tests/readers/$name.dict" ] || dictionary=-dict=tests/readers/$name.dict
    "$build/$name$optimized" "$build/corpus/$name" "tests/readers/corpus/$name" $dictionary -verbosity=0 \
        -max_total_time="$seconds" -timeout=25 -rss_limit_mb=1024 -malloc_limit_mb=512 \
        -print_final_stats=1 -artifact_prefix="$build/$name-" >"$build/$name.log" 2>&1 || {
        cat "$build/$name.log"
        echo "readers: $name failed"
        exit 1
    }
    echo "readers: $name," "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log")" \
        "executions"
done
