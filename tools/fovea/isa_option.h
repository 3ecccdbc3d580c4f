// Which instruction sets generated code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "codegen/base/dtype.h"
#include "tools/fovea/arguments.h"

namespace fovea::tool {

/// Adds `--isa` and `--bits`.
void add_isa_option(po::options_description& options);

/// The value of `--isa`, the best first: `amx_bf16`, `avx512_bf16`, `avx512`, `avx2`, `baseline`;
/// `neon_bf16`, `neon`; or `wasm`. When it was not given, all of the machine that the compiler is
/// for, those that multiply pairs only for code with products of `dtype`
/// bf16. `native` is the best that this machine has. With `--bits portable` their portable forms.
/// UserError for other names, for those of two kinds of machines, and for those without a portable
/// form.
std::vector<std::string> wanted_isas(const Arguments& given, DType dtype = DType::f32);

/// What code that runs in this process is compiled for: that of the environment variable FOVEA_ISA,
/// else the best that this machine has; those of pairs only for code with products of `dtype` bf16.
std::string isa_of_this_machine(DType dtype = DType::f32);

}  // namespace fovea::tool
