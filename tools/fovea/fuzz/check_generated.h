// A recipe's programs on a target, against the reference.
#pragma once

#include "runtime/program.h"
#include "tools/fovea/fuzz/compile_forms.h"
#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

/// Runs the kernels of a form that is compiled and loaded as `ready`, with several numbers of
/// threads, and among others: rows of a batch, padding. Throws Wrong where they differ from the
/// reference. The outcome has what was compared.
Outcome check_generated(const Recipe& recipe, const Compiled& compiled,
                        const runtime::Model& ready);

}  // namespace fovea::tool::fuzz
