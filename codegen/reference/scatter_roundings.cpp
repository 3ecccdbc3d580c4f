#include "codegen/reference/scatter_roundings.h"

#include <bit>
#include <cmath>

#include "codegen/ops/array_loop.h"
#include "codegen/reference/elementwise_error.h"

namespace fovea {

namespace {

/// The last step of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

/// A zero is one number, whatever its sign.
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value + 0.0); }

/// In [-1, 1).
double number_of(std::uint64_t bits) { return double(std::int64_t(bits)) * 0x1p-63; }

}  // namespace

void scatter_roundings(const Node& node, std::span<const Array* const> operands, Array& result) {
    const ElementwiseRow& row = row_of(node.function);
    if (!is_float(node.dtype) || !is_rounded(node.function)) return;
    std::array<std::vector<std::int64_t>, 3> strides;
    std::array<const double*, 3> data{};
    for (std::size_t i = 0; i < std::size_t(row.arity); ++i) {
        strides[i] = broadcast_strides(*operands[i], result.shape);
        data[i] = operands[i]->values.data();
    }
    double* out = result.values.data();
    for_each_index(result.shape, {strides[0], strides[1], strides[2]},
                   [&](std::int64_t a, std::int64_t b, std::int64_t c) {
                       const std::int64_t place[3] = {a, b, c};
                       std::uint64_t bits = 0;
                       for (std::size_t i = 0; i < std::size_t(row.arity); ++i)
                           bits = mixed(bits + bits_of(data[i][place[i]]));
                       double& value = *out++;
                       if (value != std::trunc(value)) value += value * 0x1p-24 * number_of(bits);
                   });
}

}  // namespace fovea
