// Values of a program's parameters and inputs, from a recipe's seed.
#pragma once

#include "codegen/plan/plan.h"
#include "tools/fovea/fuzz/recipe.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// Floats are normal, times the recipe's scale; ids, labels and lengths are in range.
Values draw_values(const plan::Program& program, const Recipe& recipe);

}  // namespace fovea::tool::fuzz
