// Runs a kernel in float64, node by node as kernel.h defines them: what emitted code must match.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/kernel/kernel.h"

namespace fovea::kernel {

/// Values of symbolic dims by name.
using DimValues = std::map<std::string, std::int64_t>;

/// The value of a dim; InternalError for a symbol without one.
std::int64_t value_of(const Dim& dim, const DimValues& dims);

/// The factor of dropout, 0 or 1 / (1 - probability), at a position.
using DropoutFactor =
    std::function<double(int site, double probability, std::int64_t row, std::int64_t column)>;

/// Runs `kernel` on `buffers`, one per kernel buffer, row-major, booleans as 0 and 1. Loops over
/// tiles take `tile` positions at a time, on which no result may depend. Throws InternalError for
/// an access out of bounds.
void evaluate(const Kernel& kernel, const DimValues& dims,
              std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout = {},
              std::int64_t tile = 5);

/// The same of a scan, whose kernels are given parts of its buffers; `evaluate` calls it.
void evaluate_steps(const Kernel& kernel, const DimValues& dims,
                    std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout,
                    std::int64_t tile);

}  // namespace fovea::kernel
