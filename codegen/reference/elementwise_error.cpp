#include "codegen/reference/elementwise_error.h"

#include <algorithm>
#include <cmath>

namespace fovea {

namespace {

/// Units in the last place that an implementation of the function may be off.
double rounding(Elementwise function) {
    switch (function) {
        case Elementwise::identity:
        case Elementwise::neg:
        case Elementwise::maximum:
        case Elementwise::minimum:
        case Elementwise::where:
        case Elementwise::abs:
        case Elementwise::sign:
        case Elementwise::floor:
        case Elementwise::ceil:
        case Elementwise::round:
        case Elementwise::relu: return 0;
        case Elementwise::add:
        case Elementwise::sub:
        case Elementwise::mul:
        case Elementwise::div:
        case Elementwise::sqrt: return 1;
        case Elementwise::pow: return 16;
        default: return 4;
    }
}

/// Whether a comparison could go the other way. Equal values are taken for copies of each other,
/// unless one of them alone is exact; zeros are not, which terms that cancel may come to.
bool is_close(const Operands& x) {
    const double distance = std::abs(x.value[0] - x.value[1]);
    if (distance == 0 && x.value[0] != 0) return (x.error[0] == 0) != (x.error[1] == 0);
    return distance <= x.error[0] + x.error[1];
}

double chosen(const Operands& x) {
    if (x.error[0] == 0) return x.error[x.value[0] != 0 ? 1 : 2];
    if (!std::isfinite(x.error[0])) return kNoBound;
    return std::abs(x.value[1] - x.value[2]) + std::max(x.error[1], x.error[2]);
}

/// How far f moves when its operands move by their errors: at the corners, where functions that are
/// monotone in each operand have their extremes.
double moved_by(const ElementwiseRow& row, const Operands& x, double y) {
    double largest = 0, total = 0;
    for (int corner = 0; corner < 1 << row.arity; ++corner) {
        double at[3]{};
        for (int i = 0; i < row.arity; ++i)
            at[i] = x.value[i] + (corner >> i & 1 ? x.error[i] : -x.error[i]);
        const double there = row.value(at[0], at[1], at[2]);
        if (there == y) continue;
        const double distance = std::abs(there - y);
        largest = std::max(largest, std::isnan(distance) ? kNoBound : distance);
        total += distance;
    }
    // Where one side is cut off, as by a minimum, the bound tells it.
    return std::isfinite(largest) ? largest + 0x1p-40 * total : largest;
}

}  // namespace

bool is_rounded(Elementwise function) { return rounding(function) != 0; }

bool jumps(Elementwise function) {
    switch (function) {
        case Elementwise::sign:
        case Elementwise::floor:
        case Elementwise::ceil:
        case Elementwise::round: return true;
        default: return row_of(function).gives_boolean;
    }
}

double error_of(const ElementwiseRow& row, const Operands& x, double y, double size, double unit) {
    switch (row.function) {
        case Elementwise::lt:
        case Elementwise::le:
        case Elementwise::eq: return is_close(x);
        case Elementwise::logical_not:
        case Elementwise::logical_and:
        case Elementwise::logical_or: return std::max(x.error[0], x.error[1]);
        case Elementwise::where: return chosen(x);
        default: break;
    }
    // What may be no number makes none.
    if (std::any_of(x.error, x.error + row.arity, [](double e) { return !std::isfinite(e); }))
        return kNoBound;
    switch (row.function) {
        case Elementwise::sin:
        case Elementwise::cos: return std::min(2.0, x.error[0] + unit * (std::abs(x.value[0]) + 4));
        case Elementwise::sin_scaled:
        case Elementwise::cos_scaled: {  // the angle in double precision, by a power within 2^-36
            const double scale = std::exp2(x.value[1] + x.value[2]), angle = x.value[0] * scale;
            const double power = 0x1p-36 + kLn2 * (x.error[1] + x.error[2]);
            return std::min(2.0,
                            x.error[0] * scale + std::abs(angle) * std::expm1(power) + 4 * unit);
        }
        case Elementwise::atan2:  // across the negative half of x the angle jumps, and the sign of
            // a zero that was computed depends on the order of its terms
            if (x.value[1] <= x.error[1] && std::abs(x.value[0]) <= x.error[0])
                return 2 * std::acos(-1.0);
            break;
        case Elementwise::div:
            if (x.error[1] > 0 && std::abs(x.value[1]) <= x.error[1]) return kNoBound;
            break;
        default: break;
    }
    const double moved = moved_by(row, x, y);
    const double units = rounding(row.function);
    double local = units > 0 ? units * unit * (size + moved) : 0;  // the size may be infinite
    // exp x is computed as 2^(x log2 e), whose exponent is rounded, too.
    if (row.function == Elementwise::exp || row.function == Elementwise::exp2)
        local *= 1 + std::abs(x.value[0]);
    // What is smaller than all numbers of full precision may be taken for 0.
    return moved + local + (std::abs(y) < 0x1p-126 ? 0x1p-126 : 0x1p-149);
}

}  // namespace fovea
