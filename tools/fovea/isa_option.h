// Which instruction sets generated code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "codegen/base/dtype.h"
#include "tools/fovea/arguments.h"
#include "tools/fovea/model/load_model.h"

namespace fovea::tool {

/// Adds `--isa` and `--bits`.
void add_isa_option(po::options_description& options);

/// What code multiplies: operands of `dtype`, weights of 8 or 4 bits.
struct Products {
    DType dtype = DType::f32;
    bool of_numbers = false;
};
Products products_of(const LoadedModel& model);

/// The value of `--isa`, the best first: `amx_bf16`, `avx512_bf16`, `avx512_vnni`, `avx512`,
/// `avx2`, `baseline`; `neon_bf16`, `neon`; or `wasm`. When it was not given, all of the machine
/// that the compiler is for, those that multiply pairs of bfloat16, or bytes, only for code with
/// such products. `native` is the best that this machine has. With `--bits portable` their
/// portable forms. UserError for other names, for those of two kinds of machines, and for those
/// without a portable form.
std::vector<std::string> wanted_isas(const Arguments& given, Products products = {});

/// What code that runs in this process is compiled for: that of the environment variable FOVEA_ISA,
/// else the best that this machine has for these products.
std::string isa_of_this_machine(Products products = {});

}  // namespace fovea::tool
