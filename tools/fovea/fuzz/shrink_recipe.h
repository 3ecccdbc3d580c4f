// A program that fails, made as short as it gets while it fails in the same way.
#pragma once

#include <functional>

#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

/// Tries shorter programs as long as `fails` says that they fail, at most `tries` of them: no
/// schedule of its own, float32, fewer outputs, lines replaced by an operand or an input, smaller
/// sizes.
Recipe shrink_recipe(const Recipe& recipe, const std::function<bool(const Recipe&)>& fails,
                     int tries);

/// Without the lines that no output depends on.
Recipe without_unused_lines(const Recipe& recipe);

}  // namespace fovea::tool::fuzz
