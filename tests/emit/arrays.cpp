#include "tests/emit/arrays.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "codegen/ptx/instructions/half.h"
#include "runtime/training/philox.h"

namespace fovea::test {

using kernel::Kernel;

namespace {

bool accumulates(const Kernel& kernel, std::size_t buffer) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto store = std::get_if<kernel::Store>(&node.operation))
            if (store->access.buffer == int(buffer) && store->accumulate) return true;
    return false;
}

constexpr std::size_t kGuard = 16;
constexpr double kHuge = 1e30;  // hidden scores, which are exact

}  // namespace

std::uint16_t half_of(DType half, double value) {
    return half == f16 ? ptx::to_f16(value) : ptx::to_bf16(value);
}
double value_of_half(DType half, std::uint16_t bits) {
    return half == f16 ? ptx::from_f16(bits) : ptx::from_bf16(bits);
}

Arrays::Arrays(const Kernel& kernel, const kernel::DimValues& dims, int limit, unsigned seed) {
    std::mt19937 generator(seed);
    const std::size_t count = kernel.buffers.size();
    floats.resize(count), integers.resize(count), booleans.resize(count), halves.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        std::size_t size = 1;
        for (const Dim& dim : buffer.shape) size *= std::size_t(kernel::value_of(dim, dims));
        const bool blank = buffer.written && !accumulates(kernel, i);
        const auto draw = [&] { return float(generator() >> 8) * 0x1p-22F - 2.F; };
        exact.emplace_back(size);
        floats[i].assign(size + kGuard, kUnwritten);
        integers[i].assign(size + kGuard, -77);
        booleans[i].assign(size + kGuard, 77);
        halves[i].assign(size + kGuard, half_of(buffer.dtype, kUnwritten));
        for (std::size_t at = 0; at < size; ++at) {
            const float value = blank ? kUnwritten : draw();
            floats[i][at] = value;
            integers[i][at] = blank ? -77 : int(generator() % unsigned(limit));
            booleans[i][at] = blank ? 77 : generator() % 2;
            halves[i][at] = half_of(buffer.dtype, double(value));
            exact[i][at] = buffer.dtype == DType::f32   ? floats[i][at]
                           : buffer.dtype == DType::i32 ? integers[i][at]
                           : is_half(buffer.dtype)      ? value_of_half(buffer.dtype, halves[i][at])
                                                        : booleans[i][at];
        }
        addresses.push_back(buffer.dtype == DType::f32   ? static_cast<void*>(floats[i].data())
                            : buffer.dtype == DType::i32 ? static_cast<void*>(integers[i].data())
                            : is_half(buffer.dtype)      ? static_cast<void*>(halves[i].data())
                                                         : booleans[i].data());
    }
}

bool same_bits(const Arrays& a, const Arrays& b) {
    for (std::size_t i = 0; i < a.floats.size(); ++i)
        if (std::memcmp(a.floats[i].data(), b.floats[i].data(),
                        a.floats[i].size() * sizeof(float)) != 0)
            return false;
    return a.integers == b.integers && a.booleans == b.booleans && a.halves == b.halves;
}

void check_against_evaluator(const Kernel& kernel, const kernel::DimValues& dims, Arrays& arrays,
                             double tolerance) {
    const auto dropout = [](int site, double p, std::int64_t row, std::int64_t column) {
        const bool kept = runtime::dropout_keep(5, 3, std::uint32_t(site), std::uint32_t(row),
                                                std::uint32_t(column), p);
        return kept ? 1 / (1 - p) : 0.0;
    };
    kernel::evaluate(kernel, dims, arrays.exact, dropout);
    for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
        const kernel::Buffer& buffer = kernel.buffers[i];
        if (!buffer.written) continue;
        const std::size_t size = arrays.exact[i].size();
        double scale = 1, worst = 0;
        std::size_t where = 0;
        for (std::size_t at = 0; at < size; ++at) {
            const double exact = arrays.exact[i][at];
            if (std::fabs(exact) < kHuge) scale = std::max(scale, std::fabs(exact));
            const double own = buffer.dtype == DType::f32   ? double(arrays.floats[i][at])
                               : buffer.dtype == DType::i32 ? double(arrays.integers[i][at])
                               : is_half(buffer.dtype)
                                   ? value_of_half(buffer.dtype, arrays.halves[i][at])
                                   : double(arrays.booleans[i][at]);
            const bool same = own == exact || (std::isnan(own) && std::isnan(exact));
            const double error = same ? 0 : std::fabs(own - exact);
            if (!(error <= worst)) worst = error, where = at;
        }
        const double rounding = is_half(buffer.dtype) ? format_of(buffer.dtype).spacing(1) / 2 : 0;
        const double allowed = (tolerance + rounding) * scale;
        CHECK_MESSAGE(worst <= allowed, kernel.name, ": ", buffer.name, "[", where, "] is off by ",
                      worst);
        bool intact = true;
        for (std::size_t at = size; at < size + kGuard; ++at)
            intact &= arrays.floats[i][at] == kUnwritten && arrays.integers[i][at] == -77 &&
                      arrays.booleans[i][at] == 77 &&
                      arrays.halves[i][at] == half_of(buffer.dtype, kUnwritten);
        CHECK_MESSAGE(intact, kernel.name, ": writes past the end of ", buffer.name);
    }
}

}  // namespace fovea::test
