// A program's values among others: more rows of a batch, longer rows. What does not depend on them
// has the same bits.
#pragma once

#include <optional>
#include <string>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "tools/fovea/fuzz/recipe.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool::fuzz {

/// The dims that are made longer, together.
using LongerDims = std::vector<std::string>;
/// Each of a recipe's dims that may be, and all of them.
std::vector<LongerDims> longer_dims();
/// A recipe with larger sizes, as far as it has sizes of these names.
Recipe made_longer(Recipe recipe, const LongerDims& longer);

/// A program's values in larger arrays, which begin with those that it has alone along each axis.
/// Lengths stay, so that what is added behind them is padding. The reference says which elements of
/// the outputs the others leave as they are.
class Neighbours {
  public:
    Neighbours(const CompiledProgram& program, const Recipe& recipe, const LongerDims& longer,
               InterpreterOptions options);

    /// Whether an element of an output is left as it is; without a size of these names none is.
    bool any() const { return !kept_.empty(); }
    const SampleDims& sizes() const { return recipe_.sizes; }
    const Values& values() const { return values_; }
    /// Why the outputs differ in an element that is left as it is.
    std::optional<std::string> why_not_same(const Values& alone, const Values& beside) const;

  private:
    struct Element {
        std::string output;
        std::size_t alone, beside;  // positions in the arrays
        double lost;  // what others may add without the reference seeing it
    };
    Recipe recipe_;
    Values values_;
    std::vector<Element> kept_;
};

}  // namespace fovea::tool::fuzz
