#include "tools/bundle/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/memory/halves.h"

namespace fovea::bundle {

using runtime::DType;

namespace {

constexpr double kMasked = 1e5;  // values beyond are masked scores

double value_at(const void* address, DType dtype, std::size_t i) {
    switch (dtype) {
        case DType::f32: return static_cast<const float*>(address)[i];
        case DType::i32: return static_cast<const std::int32_t*>(address)[i];
        case DType::boolean: return static_cast<const std::uint8_t*>(address)[i];
        case DType::bf16:
        case DType::f16:
            return runtime::float_of_half(dtype, static_cast<const std::uint16_t*>(address)[i]);
    }
    return 0;
}

}  // namespace

std::vector<double> read_values(const void* address, DType dtype, std::size_t count) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = value_at(address, dtype, i);
    return values;
}

double relative_error(std::span<const double> a, std::span<const double> b, double floor) {
    double scale = floor, error = 0;
    for (double value : b)
        if (std::abs(value) < kMasked) scale = std::max(scale, std::abs(value));
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        const double difference = std::abs(a[i] - b[i]), own = std::abs(b[i]);
        if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
        error = std::max(error, difference / std::max(scale, own < kMasked ? 0 : own));
    }
    return error;
}

}  // namespace fovea::bundle
