// Every kernel of a compiled program against the float64 reference, and every gradient also against
// finite differences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/program.h"
#include "tools/fovea/sample_inputs.h"

namespace fovea::tool {

/// Largest errors that pass, relative to the largest value of the tensor (see `relative_error`).
struct Tolerances {
    double values = 2e-5, gradients = 1e-4;
};
/// The reference rounds to bfloat16 what is stored so. What lies between two of its values may go
/// the other way there, by 1/128 at most, and a kernel goes on with what it has not rounded yet.
constexpr Tolerances tolerances_of(DType dtype) {
    return dtype == DType::bf16 ? Tolerances{1. / 64, 1. / 32} : Tolerances{};
}
/// Of products of tf32, whose operands the reference rounds, too: what lies between two values of
/// tf32 may go the other way there, by 1/1024 at most.
inline constexpr Tolerances kTf32Tolerances = {1. / 512, 1. / 256};

struct VerifyRow {
    std::string model, kernel, dims;
    std::optional<double> value_error, gradient_error;
    bool ok = true;
};

/// max|a - b| / max(max|b|, floor); infinite where a value is not finite. Masked scores, -1e6, are
/// compared on their own scale.
double relative_error(const std::vector<double>& a, const std::vector<double>& b, double floor);

/// Gives the reference the sizes, and the values that it has a name for.
void set_all(Interpreter& reference, const SampleDims& dims, const Values& values);

/// The nodes whose values are read from memory as bfloat16.
std::vector<bool> rounded(const fuse::FusedGraph& fused);

/// The largest |gradient| among the outputs of the program.
double largest_gradient(const Graph& graph, Interpreter& reference);

/// Runs the generated program with an observer after each kernel, which compares what the kernel
/// stored with the reference's values of the same nodes: a row for each kernel.
std::vector<VerifyRow> verify_kernels(const plan::Model& plan, const CompiledProgram& compiled,
                                      const runtime::Model& generated, const Sample& sample,
                                      bool training, Tolerances tolerances = {});

/// The gradients of the reference, of every parameter and float input, against central finite
/// differences of the reference along a random direction: a row for each.
std::vector<VerifyRow> verify_gradients(const std::string& model, const CompiledProgram& compiled,
                                        const Sample& sample, bool training);

}  // namespace fovea::tool
