// The same rows of a batch, beside others: what does not depend on the others has the same bits.
#pragma once

#include <optional>
#include <string>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "tools/fovea/fuzz/recipe.h"
#include "tools/fovea/sample_inputs.h"

namespace fovea::tool::fuzz {

/// A program's values with a larger `batch`, which begin with those that it has alone. The
/// reference says which elements of the outputs the others leave as they are.
class BatchMates {
  public:
    BatchMates(const CompiledProgram& program, const Recipe& recipe, InterpreterOptions options);

    /// Whether an element of an output is left as it is; without a size of this name none is.
    bool any() const { return !kept_.empty(); }
    const SampleDims& sizes() const { return recipe_.sizes; }
    const Values& values() const { return values_; }
    /// Why the outputs differ in an element that is left as it is.
    std::optional<std::string> why_not_same(const Values& alone, const Values& beside) const;

  private:
    struct Element {
        std::string output;
        std::size_t alone, beside;  // positions in the arrays
    };
    Recipe recipe_;
    Values values_;
    std::vector<Element> kept_;
};

}  // namespace fovea::tool::fuzz
