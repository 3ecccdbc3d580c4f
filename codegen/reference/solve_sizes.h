// Symbolic sizes that follow from the shapes of arrays, also where an axis is twice a size.
#pragma once

#include <string>
#include <vector>

#include "codegen/base/shape.h"
#include "codegen/reference/dim_sizes.h"

namespace fovea {

/// An array's name, the shape that it should have, and the one that it has.
struct GivenShape {
    std::string name;
    Shape expected;
    std::vector<std::int64_t> shape;
};

/// Adds to `sizes` those that an axis with one size that is not known gives, one after the other.
/// UserError where none fits, for another number of axes, and where an axis whose sizes are known
/// has another length.
void solve_sizes(const std::vector<GivenShape>& given, DimSizes& sizes);

}  // namespace fovea
