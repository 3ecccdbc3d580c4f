// How far an elementwise function may be off at one place.
#pragma once

#include <limits>

#include "codegen/base/elementwise.h"

namespace fovea {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

/// The operands of an elementwise function at one place: values and their errors.
struct Operands {
    double value[3]{}, error[3]{};
};

/// Whether what the function gives is rounded, and not one of its operands or a whole number.
bool is_rounded(Elementwise function);
/// Whether its values jump from one to the next, so that a rounding decides which it is.
bool jumps(Elementwise function);

/// The bound for f, whose exact value of these operands is y. `size`: what the rounding of the
/// function itself is relative to, |y| usually; `unit`: the relative error of one rounding.
double error_of(const ElementwiseRow& row, const Operands& x, double y, double size, double unit);

}  // namespace fovea
