#!/bin/sh
# Builds fovea, builds a translator with it, trains it on the corpus in models/transformer, and
# translates. `tools/demo.sh lm` makes a language model instead, which is trained on the pages and
# the models of this repository, and goes on with texts. Everything it makes is in build/demo.
set -eu
case "${1-}" in
    "" | lm) ;;
    *) echo "usage: tools/demo.sh [lm]" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/.."
sh tools/setup.sh
step() { printf '\n== %s\n' "$1"; }

step "building fovea"
mkdir -p build
cmake -G Ninja -S . -B build -DFOVEA_PRECOMPILE=ON -DFOVEA_UNITY=ON -DFOVEA_TESTS=OFF >build/configure.log || { cat build/configure.log; exit 1; }
cmake --build build -j "$(nproc)" --target fovea
mkdir -p build/demo
cd build/demo

translator() {
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
}

language_model() {
    step "fovea build llama -o llm: C++ from the model, a program from the C++"
    ../fovea build llama -o llm --isa native --set vocab_size=256 \
        --set hidden_size=128 --set intermediate_size=256 --set num_hidden_layers=3 \
        --set num_attention_heads=4 --set num_key_value_heads=2
    ls -l llm | awk '{print $5 " bytes"}'

    step "training on the pages and the models of this repository, byte by byte"
    cat ../../README.md ../../*/README.md ../../models/*.h ../../models/*/*.h >text
    ls -l text | awk '{print $5 " bytes"}'
    ./llm train --data text --weights lm.safetensors --len 128 --batch 16 --steps 850 \
        --lr 0.004 --schedule cosine --warmup 50 --validation 0.05

    step "texts that go on"
    for start in "constexpr Tensor " "The kernels are " "- inputs: "; do
        printf '%s' "$start"
        ./llm generate --weights lm.safetensors --max-tokens 160 --temperature 0.5 --seed 1 -- "$start"
    done

    step "what next"
    cat <<'TEXT'
In build/demo:
    ./llm generate --weights lm.safetensors --temperature 0.7 "a text of your own"
    ./llm score --weights lm.safetensors "a text of your own"
    ./llm train --help             your own texts, or a checkpoint that goes on with them
In the sources:
    build/fovea show llama --program training_step --stage kernels     what was generated
    models/today/llama.h                             the model: change it, and build again
TEXT
}

if [ "${1-}" = lm ]; then language_model; else translator; fi
