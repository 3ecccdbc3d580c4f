// The forms of recipes that are compiled and compared: without fusion, with it, and with all of it.
#pragma once

#include <string>
#include <vector>

#include "tools/fovea/fuzz/check_recipe.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool::fuzz {

/// The way a program is compiled.
struct Compilation {
    const char* name;
    Fusion fusion;
};
inline constexpr Compilation kCompilations[] = {{"fusion off", {false}},
                                                {"fusion on", {true}},
                                                {"fusion always", {true, AttentionForm::fused}}};

/// The model of a recipe; `suffix` keeps the names of its forms apart. UserError where the model is
/// refused.
LoadedModel model_of(const Recipe& recipe, const std::string& suffix);

/// A form of a recipe on a target, compiled.
struct Compiled {
    std::size_t recipe = 0;
    std::string where;
    CompiledModel model;
};

/// All forms of the recipes that are right so far, those that are alike once.
std::vector<Compiled> compile_forms(const std::vector<Recipe>& recipes,
                                    const std::vector<Outcome>& outcomes, const std::string& target,
                                    Kernels kernels);

/// The generated code, null where it does not compile: that is then the recipe's outcome. All of it
/// is compiled together; where that fails, one by one, to know which.
std::vector<const runtime::Model*> load_all(const std::vector<Compiled>& all,
                                            const std::string& isa, std::vector<Outcome>& outcomes);

}  // namespace fovea::tool::fuzz
