// The gradients of a program's reference beside the slopes of its outputs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool {

/// The objective is the sum of the outputs times their cotangents, or of `loss` where there is one.
/// Each gradient is looked at along one direction of -1 and 1, drawn by position. What
/// `stop_gradient`, casts to whole numbers and functions of steps give stays as it is while the
/// objective moves.
class FiniteDifferences {
  public:
    /// `values`: of the program's parameters and inputs, and of the cotangents.
    FiniteDifferences(const CompiledProgram& program, const SampleDims& dims, const Values& values,
                      const InterpreterOptions& options);
    ~FiniteDifferences();

    /// The parameters and inputs that the program has gradients of.
    const std::vector<std::string>& names() const;
    /// The sum of the gradient's elements times the direction's.
    double gradient(const std::string& name);
    /// (f(x + h d) - f(x - h d)) / 2h.
    double slope(const std::string& name, double h);
    /// What the slopes to both sides differ by: (f(x + h d) - 2 f(x) + f(x - h d)) / h.
    double bend(const std::string& name, double h);
    /// The most that `gradient` is another at x + h d or x - h d.
    double change_of_gradient(const std::string& name, double h);
    /// How far rounding in float64 may move `gradient` and `slope`, by a running error analysis.
    double gradient_error(const std::string& name);
    double slope_error(double h);
    /// The largest |gradient| among the outputs of the program.
    double largest_gradient();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace fovea::tool
