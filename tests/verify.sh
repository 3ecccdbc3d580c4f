#!/bin/sh
# Verifies the built-in models: `sh tests/verify.sh build/fovea [OPTIONS]`. Of models that are alike
# (alike_models.h) it takes one, and not t5, which takes long; tests/nightly.sh takes all.
set -eu
fovea=$1; shift
models=$("$fovea" models | sed -n 's/^\([a-z0-9_]*\)  (.*/\1/p' | grep -vxE 'llama|mistral|qwen3|gpt2|bert|t5')
exec "$fovea" verify $models "$@"
