// Sizes of symbolic dims, and dims at them.
#pragma once

#include <map>

#include "codegen/base/dim.h"

namespace fovea {

using DimSizes = std::map<Symbol, std::int64_t>;

/// The value of a dim; UserError for a symbol without a size.
std::int64_t value_of(const DimSizes& sizes, const Dim& dim);
/// The same for `Evaluation::size_of`: `sizes` is a DimSizes.
std::int64_t size_among(const void* sizes, const Dim& dim);

}  // namespace fovea
