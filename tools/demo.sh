#!/bin/sh
# Builds fovea, builds a translator with it, trains it on the corpus in models/transformer, and
# translates. Everything it makes is in build/demo.
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh
step() { printf '\n== %s\n' "$1"; }

step "building fovea"
mkdir -p build
cmake -G Ninja -S . -B build -DFOVEA_PRECOMPILE=ON -DFOVEA_UNITY=ON -DFOVEA_TESTS=OFF >build/configure.log || { cat build/configure.log; exit 1; }
cmake --build build -j "$(nproc)" --target fovea
mkdir -p build/demo
cd build/demo

step "fovea build transformer -o translator: C++ from the model, a program from the C++"
../fovea build transformer -o translator --isa native \
    --set hidden=64 --set ffn=128 --set heads=4 --set layers=2 --set dropout=0.1
ls -l translator | awk '{print $5 " bytes; it needs"}'
ldd translator | awk '{print "    " $1}'

step "training on models/transformer/corpus.tsv"
./translator train --data ../../models/transformer/corpus.tsv --weights weights.safetensors \
    --epochs 100

step "translating (the last two are not in the corpus)"
for sentence in "I am tired." "We are hungry." "Thank you!" "She reads a book." "She is my sister."; do
    printf '%-28s ' "$sentence"
    ./translator translate --weights weights.safetensors "$sentence"
done

step "what next"
cat <<'TEXT'
In build/demo:
    ./translator translate --weights weights.safetensors "your own sentence ."
    ./translator evaluate --weights weights.safetensors --data ../../models/transformer/corpus.tsv
    ./translator train --help          your own pairs: a line each, English TAB French
In the sources:
    build/fovea show transformer --stage kernels     what was generated, and from which lines
    build/fovea show transformer --stage cpp         the C++ itself
    models/transformer.h                             the model: change it, and build again
TEXT
