// One program against the reference, at every stage and on every target that is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/fovea/device/targets.h"
#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

/// What is compared with the reference besides the graphs of all stages.
struct Checks {
    bool kernels = true;       // tile programs, evaluated in float64
    bool differences = true;   // gradients against finite differences
    std::vector<Target> targets{};  // compiled kernels
};

struct Outcome {
    enum class Kind {
        right,
        no_numbers,  // the reference gives infinities or NaN: nothing was compared
        refused,     // the model's function refuses it
        wrong,       // values differ, or an internal error, or a refusal after the checks
    } kind = Kind::right;
    /// Of `wrong`: the stage and the output, without sizes and numbers, so that programs that fail
    /// alike have the same text.
    std::string where;
    std::string what;  // the whole of it
};

Outcome check_recipe(const Recipe& recipe, const Checks& checks);

}  // namespace fovea::tool::fuzz
