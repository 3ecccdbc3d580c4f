// The memory that tests run kernels of any target on, beside that of the float64 evaluator.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/kernel/evaluate.h"

namespace fovea::test {

/// The memory of one run of a kernel: an array per buffer, as the generated code sees it and as
/// the evaluator does.
struct Arrays {
    std::vector<std::vector<float>> floats;  // f32 buffers, with a guard of 16 elements at the end
    std::vector<std::vector<std::int32_t>> integers;
    std::vector<std::vector<unsigned char>> booleans;
    std::vector<std::vector<std::uint16_t>> halves;
    std::vector<void*> addresses;
    std::vector<std::vector<double>> exact;

    /// Values in (-2, 2), ids in [0, limit), from a generator with this seed. What a kernel writes
    /// starts as `fill`, or as values when it accumulates.
    Arrays(const kernel::Kernel& kernel, const kernel::DimValues& dims, int limit, unsigned seed);
};

constexpr float kUnwritten = -77.F;

/// An element of a buffer of bfloat16 or float16: its bits, and their value.
std::uint16_t half_of(DType half, double value);
double value_of_half(DType half, std::uint16_t bits);

/// Whether two runs wrote the same bits.
bool same_bits(const Arrays& a, const Arrays& b);

/// Compares what the kernel wrote with the evaluator, element by element; `tolerance` is relative
/// to the larger of 1 and the largest exact value below 1e30. Also checks the guards.
void check_against_evaluator(const kernel::Kernel& kernel, const kernel::DimValues& dims,
                             Arrays& arrays, double tolerance);

}  // namespace fovea::test
