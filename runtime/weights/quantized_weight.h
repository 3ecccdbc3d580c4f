// A weight as whole numbers with scales: made of floats, packed as products read it, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../memory/weight_storage.h"

namespace fovea::runtime {

/// Element (row, step) is numbers[row, step] * scales[row, step / group], the product of a whole
/// number of 8 or 4 bits and a bfloat16, which float32 holds.
struct QuantizedWeight {
    std::vector<std::int8_t> numbers;    // [rows, depth]
    std::vector<std::uint16_t> scales;   // [rows, groups]: bfloat16
};

/// The nearest numbers to `values` [rows, depth]. A group of 8 bits has its largest size as 127. Of
/// 4 bits, whose numbers are from -8 to 7, the scale is the one of a few that has the least sum of
/// squared errors. UserError where a value is not finite; the text has `name`.
QuantizedWeight quantize(const WeightLayout& layout, std::span<const float> values,
                         std::string_view name);

/// To the words of the layout, which there are as many of.
void pack(const WeightLayout& layout, const QuantizedWeight& weight,
          std::span<std::uint32_t> words);
QuantizedWeight unpack(const WeightLayout& layout, std::span<const std::uint32_t> words);

/// The values of these numbers, [rows, depth].
std::vector<float> dequantize(const WeightLayout& layout, const QuantizedWeight& weight);

}  // namespace fovea::runtime
