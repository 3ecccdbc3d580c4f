// A model with fusion off and on, side by side: the same inputs, then the same measurements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/pipeline.h"
#include "runtime/program.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/plan_table.h"

namespace fovea::tool {

/// What one form costs, gradients included where the model has them.
struct FormCost {
    double ms = 0;          // median of one run
    double best_ms = 0;     // the fastest run
    double bytes = 0;       // that the kernels read and write (see `bytes_moved`)
    double peak_bytes = 0;  // workspace, prepared buffers, inputs and outputs
    int kernels = 0;        // that one run calls
};

struct CompareRow {
    SampleDims dims;
    double value_error = 0, gradient_error = 0;  // of fusion on, by fusion off
    double tolerance = 0;                        // the largest error that passes
    FormCost off, on;
    std::string chosen;  // `off`, `on` or `mixed` (see `chosen_form`)
};

/// The largest error that passes where the longest sum has so many terms, for float32: 1e-5 up to
/// 1,024 of them, and from there on as their rounding errors grow, with the square root (Higham,
/// Accuracy and Stability of Numerical Algorithms, section 4.5). Where a coarser type is among the
/// values, as many times that as its numbers are further apart.
double fusion_tolerance(double terms, DType coarsest);

/// One model in both forms, compiled as `run --fusion off|always` does. Programs differentiate
/// where the model can be, and train where it has dropout: both sides draw the same numbers.
class FormComparison {
  public:
    explicit FormComparison(const LoadedModel& model);

    /// The sizes of all dims of the model, `given` as `DIM=N`; UserError for an unknown dim.
    SampleDims dims(const std::vector<std::string>& given) const;
    const std::string& program() const { return requests_[0].name; }
    /// Checks values and gradients at these sizes, with lengths drawn and with full ones; then
    /// times both forms in turns, with full lengths.
    CompareRow measure(const SampleDims& dims) const;

  private:
    DType coarsest_;
    /// `off`, then `on`.
    std::vector<ProgramRequest> requests_;
    std::vector<CompiledModel> compiled_;
    std::vector<const runtime::Model*> generated_;
};

/// The form that `fovea build` ships of a program where these sizes are static: `on` where every
/// attention is one kernel, `off` where the program is attention in plain ops and nothing else,
/// `mixed` where plain attentions stand beside what is fused.
std::string chosen_form(const CompiledModel& model, const SampleDims& dims);

/// The size of `dim` from which on fusion is the faster form, up to the largest; nothing when it is
/// not at the largest. Rows are sorted by the dim.
std::optional<std::int64_t> crossover(const std::vector<CompareRow>& rows, const std::string& dim);

}  // namespace fovea::tool
