#!/bin/sh
# Checks fovea on a GPU: how matrices lie in registers, every kernel of every model in float32, with
# products of tf32, and in bfloat16, and the optimizer, each against its definition; then measures
# products, attention and a training step by the GPU's clock.
#
#   tools/gpu_check.sh --pack BUILD FOLDER   # all that is needed, from the folder of a build
#   FOLDER/gpu_check.sh [MODEL…]             # where the GPU is: all models, or some
#
# FOLDER needs an NVIDIA driver and the C library there; no compiler, no LLVM, no CUDA toolkit. It
# leaves f32.json, tf32.json, bf16.json and bench.json in the current folder, and, where python3 has
# a PyTorch that finds the GPU, peers.json: the same work beside PyTorch's, in turns. With QUICK=1
# tiny sizes are measured, which shows that it works. Exit status: 0 all is right, 1 a check missed,
# 2 there is no GPU (one sentence).
set -eu
here=$(cd "$(dirname "$0")" && pwd)

if [ "${1:-}" = --pack ]; then
    [ $# = 3 ] || { echo "usage: gpu_check.sh --pack BUILD FOLDER" >&2; exit 2; }
    [ -x "$2/fovea" ] || { echo "gpu_check: '$2' has no fovea; build it first" >&2; exit 2; }
    mkdir -p "$3/lib" "$3/peers"
    cp "$2/fovea" "$here/gpu_check.sh" "$3/"
    cp "$here/peers/gpu.py" "$here/peers/gpu_model.py" "$here/peers/ratios.py" "$3/peers/"
    # The C library stays with the machine that it was made for.
    ldd "$2/fovea" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
        grep -Ev '/(libc|libm|libpthread|libdl|librt)\.so' |
        while read -r library; do cp -L "$library" "$3/lib/"; done
    exit 0
fi

fovea=$here/fovea
[ -f "$fovea" ] || fovea=$here/../build/fovea  # in the sources, a folder has this name
[ -f "$fovea" ] || { echo "gpu_check: there is no fovea beside it; see --pack in it" >&2; exit 2; }
[ $# -gt 0 ] || set -- --all
before=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

result=0
for dtype in f32 tf32 bf16; do
    status=0
    "$fovea" verify "$@" --target cuda --set dtype=$dtype --json >$dtype.json || status=$?
    if [ $status = 2 ]; then
        rm -f $dtype.json
        exit 2
    fi
    checks=$(grep -c '"ok":' $dtype.json || true)
    missed=$(grep -c '"ok": false' $dtype.json || true)
    echo "$dtype: $checks checks, $missed missed ($dtype.json)"
    [ $status = 0 ] || result=1
done
"$fovea" bench --target cuda ${QUICK:+--quick} --json bench.json || result=1

# PyTorch has libraries of its own.
export LD_LIBRARY_PATH="$before"
if python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    python3 "$here/peers/gpu.py" --fovea "$fovea" --libraries "$here/lib" ${QUICK:+--quick} \
        --json peers.json || result=1
else
    echo "python3 has no PyTorch that finds the GPU: nothing is measured beside it"
fi
exit $result
