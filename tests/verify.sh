#!/bin/sh
# Verifies the built-in models: `sh tests/verify.sh build/fovea [OPTIONS]`. Of the decoders that
# share a file it takes one; tests/nightly.sh takes all.
set -eu
fovea=$1; shift
models=$("$fovea" models | sed -n 's/^\([a-z0-9_]*\)  (.*/\1/p' | grep -vxE 'llama|mistral')
exec "$fovea" verify $models "$@"
