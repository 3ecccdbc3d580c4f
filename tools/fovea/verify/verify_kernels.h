// A compiled program from end to end: its optimized graph against the model's own, every kernel
// against the float64 reference, and every gradient against finite differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/program.h"
#include "tools/fovea/verify/sample_inputs.h"

namespace fovea::tool {

/// A comparison: the largest error, relative to the largest value of the tensor and for gradients
/// of the program, and the largest part that a difference is of what its element may be off.
struct VerifyRow {
    std::string model, kernel, dims;
    std::optional<double> value_error, gradient_error;
    bool ok = true;
    double of_bound = 0;
    std::string note = {};  // what is special about it
};

/// Compares each element of `actual` within the element's bound, and puts what comes of it into the
/// row: of a gradient where `gradient`, relative to `floor` at least.
void compare_within(const Array& expected, const Array& bound, const std::vector<double>& actual,
                    bool gradient, double floor, VerifyRow& row);

/// Gives the reference the sizes, and the values that it has a name for.
void set_all(Interpreter& reference, const SampleDims& dims, const Values& values);

/// From here on, the reference of a program's kernels rounds where they do: what lies in memory as
/// bfloat16 or float16, and what products take.
void round_as_kernels(Interpreter& reference, const CompiledProgram& compiled);

/// The largest |gradient| among the outputs of the program.
double largest_gradient(const Graph& graph, Interpreter& reference);

/// The outputs of the graph that kernels are made of, in float64, beside those of the model's own
/// graph and its gradients: a row for each output and each gradient.
std::vector<VerifyRow> verify_optimized(const std::string& model, const CompiledProgram& compiled,
                                        const Sample& sample, bool training);

/// Runs the generated program with an observer after each kernel, which compares what the kernel
/// stored with the reference's values of the same nodes, given what the kernels before have stored,
/// within the bounds of `ErrorBounds`: a row for each kernel.
std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& generated, const Sample& sample,
                                      bool training);
/// The same on given values of parameters and inputs, at the sample's sizes.
std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& generated, const Sample& sample,
                                      const Values& values, bool training);

/// The gradients of the reference, of every parameter and float input, against central finite
/// differences of the reference along a random direction: a row for each.
std::vector<VerifyRow> verify_gradients(const std::string& model, const CompiledProgram& compiled,
                                        const Sample& sample, bool training);

}  // namespace fovea::tool
