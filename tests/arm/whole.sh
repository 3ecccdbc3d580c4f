#!/bin/sh
# fovea for aarch64 under qemu: verifies every built-in model, runs the parity cases, compares the
# bits of a training with those of this machine, then takes random programs, their number the first
# argument (200). It is built in build-aarch64, with libraries that are unpacked there; what runs on
# this machine is in build.
# Exit status 2 where the cross compiler or qemu is missing.
set -eu
cd "$(dirname "$0")/../.."
count=${1:-200}
folder=$PWD/build-aarch64
for program in aarch64-linux-gnu-g++ qemu-aarch64 apt-get; do
    command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 2; }
done

# The two libraries of the command, from Debian's packages for arm64: the system stays as it is.
debs=$folder/debs
if ! [ -d "$folder/root/usr" ]; then
    mkdir -p "$debs/lists/partial" "$folder/root"
    apt="-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::lists=$debs/lists
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache="
    # shellcheck disable=SC2086
    (cd "$debs" && apt-get $apt -qq update && apt-get $apt -qq download libfmt-dev libfmt9 \
        libboost-program-options1.74-dev libboost-program-options1.74.0)
    for deb in "$debs"/*.deb; do dpkg-deb -x "$deb" "$folder/root"; done
fi
cat >"$folder/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_PREFIX_PATH $folder/root/usr)
set(CMAKE_DISABLE_FIND_PACKAGE_LLVM ON)
END
cmake -G Ninja -S . -B "$folder" --toolchain "$folder/toolchain.cmake" -DFOVEA_UNITY=ON \
    >"$folder/configure.log" || { cat "$folder/configure.log"; exit 1; }
cmake --build "$folder" --target fovea

# What it starts runs on this machine itself: the cross compiler.
export CXX=aarch64-linux-gnu-g++
fovea() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$folder/fovea" "$@"; }
fovea verify --all >"$folder/verified.txt" || { grep -v '^ok' "$folder/verified.txt"; exit 1; }
tail -1 "$folder/verified.txt"

# qemu 7.2 loses its way where a process that was forked starts threads.
OMP_THREAD_LIMIT=1 FOVEA_COMMAND="qemu-aarch64 -L /usr/aarch64-linux-gnu $folder/fovea" \
    build/test_parity -tce="*reference*,*PTX*"

# The same training of a translator on both machines, and the same translations.
compare=$folder/bits
mkdir -p "$compare"
arm="qemu-aarch64 -L /usr/aarch64-linux-gnu"
for isa in avx2 neon; do
    env -u CXX build/fovea build transformer --bits portable --isa $isa -o "$compare/$isa" \
        --set hidden=64 --set ffn=128 --set heads=4 --set layers=2 --set dropout=0.1
    run=""
    if [ $isa = neon ]; then run=$arm; fi
    head -320 models/transformer/corpus.tsv >"$compare/data.tsv"
    $run "$compare/$isa" train --data "$compare/data.tsv" --weights "$compare/weights_$isa" \
        --batch 32 --epochs 2 --validation 0.05 --schedule cosine --warmup 2 --total-steps 20 \
        >"$compare/trained_$isa" 2>&1 || { cat "$compare/trained_$isa"; exit 1; }
    cut -f1 "$compare/data.tsv" | $run "$compare/$isa" translate --beam 3 --scores \
        --weights "$compare/weights_$isa" >"$compare/translated_$isa"
done
cmp "$compare/weights_avx2" "$compare/weights_neon"
cmp "$compare/translated_avx2" "$compare/translated_neon"
echo "a training of 20 steps and its translations have the same bits on x86 and aarch64"

OMP_THREAD_LIMIT=1 fovea fuzz --seed 1 --count "$count" --target cpu -o "$folder"
