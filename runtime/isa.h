// Instruction sets: which a machine has, and which of a program's it runs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "description.h"

namespace fovea::runtime {

/// `amx_bf16`, `avx512_bf16`, `avx512_vnni`, `avx512`, `avx2`, `baseline`, `neon_bf16`, `neon`,
/// `wasm`: those of a machine from the best on. They are x86-64-v4 with AVX512_VNNI, AVX512_BF16
/// and AMX_BF16, with the first two, with the first, with none; v3, any x86-64, aarch64 v8.2 with
/// FEAT_BF16, any aarch64, and WebAssembly with vectors of 128 bits.
std::span<const std::string_view> isa_names();

/// `avx512_portable`, `avx2_portable`, `neon_portable`: the same machines, with kernels that give
/// the same bits on all of them (runtime/cpu/registers.h).
std::span<const std::string_view> portable_isa_names();
/// Of `avx2` its `avx2_portable`; nothing where there is none.
std::string_view portable_of(std::string_view isa);

/// The kind of machine that has it, as compilers call it: `x86_64`, `aarch64` or `wasm32`; nothing
/// where `isa` is none of those names.
std::string_view machine_of(std::string_view isa);
/// The kind that this code is compiled for; nothing for others.
std::string_view this_machine();
/// Those of `isa_names` that are of a kind of machine, the last of which all of that kind have.
std::span<const std::string_view> isas_of(std::string_view machine);

/// Whether it has products of pairs of bfloat16, and other code than the next one for these alone.
bool multiplies_pairs(std::string_view isa);
/// The same of products of bytes, by which weights of 8 and 4 bits are multiplied; those with
/// products of pairs have them, too.
bool multiplies_bytes(std::string_view isa);

/// Whether this machine runs kernels for `isa`, one of those names. Asks the system for what the
/// process must be allowed to use: the tiles of `amx_bf16`.
bool machine_has(std::string_view isa);

/// The number of the part to run: the one that the environment variable FOVEA_ISA names, else the
/// best that this machine has. UserError when there is none such, with those that there are.
std::size_t choose_isa(std::span<const std::string_view> parts);
const IsaPart& choose_isa(std::span<const IsaPart> parts);

}  // namespace fovea::runtime
