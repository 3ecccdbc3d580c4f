// One program against the reference, at every stage and on every target that is asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/fovea/device/targets.h"
#include "tools/fovea/fuzz/compare_arrays.h"
#include "tools/fovea/fuzz/recipe.h"

namespace fovea::tool::fuzz {

/// Compiled kernels that are compared with the reference, besides the graphs and tile programs of
/// every stage.
struct Checks {
    std::vector<std::string> isas{};  // of this machine
    std::vector<Target> devices{};    // PTX
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
    std::string where{};
    std::string what{};  // the whole of it
    double scale = 1;  // of the inputs, at which there are numbers
    Counts counts{};
};

/// The outcome for each recipe. Those that are right at every stage are compiled together. Each is
/// run in a process of its own.
std::vector<Outcome> check_recipes(const std::vector<Recipe>& recipes, const Checks& checks);

}  // namespace fovea::tool::fuzz
