// A program at every stage of the compiler, on the float64 reference: the graph after each pass,
// and its kernels as tile programs.
#pragma once

#include <string>

#include "tools/fovea/fuzz/check_recipe.h"
#include "tools/fovea/fuzz/compile_forms.h"

namespace fovea::tool::fuzz {

/// What dropout draws from.
inline constexpr std::uint64_t kFuzzSeed = 7, kFuzzStep = 3;

/// How programs of the runner are interpreted.
InterpreterOptions options_of(const ProgramRequest& request);

/// `fusion on, forward: value`, or `gradient`.
std::string of_output(const std::string& where, const std::string& name);

/// On the largest inputs of a few scales that give numbers. Throws Wrong at the first stage that
/// differs.
Outcome check_stages(Recipe recipe);

}  // namespace fovea::tool::fuzz
