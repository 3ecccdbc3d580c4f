#!/bin/sh
# Verifies models: `sh tests/verify.sh FOVEA FIRST MODELS [OPTIONS]` takes every other one of MODELS
# by turns, as FOVEA_SEED says, or all where FOVEA_WHOLE is set; with FIRST 0 those that FIRST 1
# leaves out. MODELS is a list of names, or built-in; of these it takes one of those that are alike
# (alike_models.h), and not t5, which takes long; tests/nightly.sh takes all.
set -eu
fovea=$1 first=$2 models=$3; shift 3
[ "$models" != built-in ] || models=$("$fovea" models | sed -n 's/^\([a-z0-9_]*\)  (.*/\1/p' |
    grep -vxE 'llama|mistral|qwen2|qwen3|gemma3|phi3|olmo2|gpt2|bert|t5')
: "${FOVEA_SEED:=$(od -An -N2 -tu2 /dev/urandom)}"
echo "FOVEA_SEED=$((FOVEA_SEED))"
[ -n "${FOVEA_WHOLE+set}" ] ||
    models=$(printf '%s\n' $models | awk -v turn=$(((FOVEA_SEED + first) % 2)) 'NR % 2 == turn')
exec "$fovea" verify $models "$@"
