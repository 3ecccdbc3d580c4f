// Shapes with values: evaluated from extents, counted with care for overflow, and printed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "extent.h"

namespace fovea::runtime {

/// The sizes of a shape for these dims; UserError when one is negative or does not fit.
std::vector<std::int64_t> shape_values(std::span<const Extent> shape,
                                       std::span<const std::int64_t> dims);
/// The product of the sizes (1 for a scalar); UserError when it does not fit into 63 bits.
std::int64_t element_count(std::span<const std::int64_t> shape);
/// `[2, 3]`; `[]` for a scalar.
std::string shape_text(std::span<const std::int64_t> shape);
/// `[batch, 4*len]`.
std::string shape_text(std::span<const Extent> shape, std::span<const std::string> dim_names);

}  // namespace fovea::runtime
