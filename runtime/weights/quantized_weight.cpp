#include "quantized_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../error.h"
#include "storage_name.h"
#include "weight_lines.h"

namespace fovea::runtime {

namespace {

using Index = std::size_t;

float scale_of(std::uint16_t bits) { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }

/// The least bfloat16 that is not less, so that no number is past the range.
std::uint16_t bfloat16_from(float scale) {
    return static_cast<std::uint16_t>((__builtin_bit_cast(std::uint32_t, scale) + 0xffffU) >> 16);
}

/// The whole number nearest to a value from -2^22 to 2^22, the even one in the middle: in a float
/// as large as this there is no room for more bits.
float to_whole(float value) {
    constexpr float kLarge = 0x1.8p23F;
    return (value + kLarge) - kLarge;
}

/// That of value / scale.
float nearest(float value, float scale, int bits) {
    if (scale == 0) return 0;
    const float most = bits == 8 ? 127.F : 7.F, least = bits == 8 ? -127.F : -8.F;
    return to_whole(std::clamp(value / scale, least, most));
}

double squared_error(std::span<const float> values, float scale, int bits) {
    double sum = 0;
    for (const float value : values) {
        const float error = value - nearest(value, scale, bits) * scale;
        sum += static_cast<double>(error) * error;
    }
    return sum;
}

/// The scale of a group whose largest size is `largest`.
std::uint16_t choose_scale(std::span<const float> values, float largest, int bits) {
    if (bits == 8) return bfloat16_from(largest / 127);
    // A smaller scale cuts the largest values, and is finer for all others.
    constexpr float kLargestNumbers[] = {7, 7.25F, 7.5F, 7.75F, 8, 8.5F, 9, 9.5F};
    std::uint16_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (const float number : kLargestNumbers) {
        const std::uint16_t scale = bfloat16_from(largest / number);
        const double error = squared_error(values, scale_of(scale), bits);
        if (error < least) least = error, best = scale;
    }
    return best;
}

/// The scale of a group, whose numbers are written to `numbers`.
std::uint16_t quantize_group(std::span<const float> values, int bits, std::int8_t* numbers) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    const std::uint16_t bits_of_scale = choose_scale(values, largest, bits);
    const float scale = scale_of(bits_of_scale);
    for (Index i = 0; i < values.size(); ++i)
        numbers[i] = static_cast<std::int8_t>(nearest(values[i], scale, bits));
    return bits_of_scale;
}

}  // namespace

QuantizedWeight quantize(const WeightLayout& layout, std::span<const float> values,
                         std::string_view name) {
    const float* const end = values.data() + values.size();
    if (std::find_if_not(values.data(), end, [](float value) { return std::isfinite(value); }) !=
        end)
        throw UserError("'{}' has a value that is not finite: {} of it has none",
                        {name, type_name(layout.storage)});
    QuantizedWeight weight;
    weight.numbers.resize(values.size());
    weight.scales.resize(Index(layout.rows * layout.groups()));
    const auto depth = Index(layout.depth), groups = Index(layout.groups()),
               group = Index(layout.storage.group);
    for_parts_of_rows(layout, [&](WeightRows rows) {
        for (Index row = Index(rows.begin); row < Index(rows.end); ++row)
            for (Index g = 0; g < groups; ++g) {
                const Index first = row * depth + g * group;
                weight.scales[row * groups + g] =
                    quantize_group(values.subspan(first, std::min(group, depth - g * group)),
                                   layout.storage.bits, &weight.numbers[first]);
            }
    });
    return weight;
}

void pack(const WeightLayout& layout, const QuantizedWeight& weight,
          std::span<std::uint32_t> words) {
    const auto* const numbers = reinterpret_cast<const std::uint8_t*>(weight.numbers.data());
    const int bits = layout.storage.bits;
    pack_lines(layout, weight.scales, words, [&](const WeightLine& line) {
        const std::uint8_t* const from = numbers + line.row * layout.depth + line.step;
        std::uint32_t steps = 0;
        for (std::int64_t i = 0; i < line.count; ++i)
            steps |= (from[i] & ((1U << bits) - 1)) << bits * i;
        return steps;
    });
}

QuantizedWeight unpack(const WeightLayout& layout, std::span<const std::uint32_t> words) {
    QuantizedWeight weight;
    weight.numbers.resize(Index(layout.rows * layout.depth));
    weight.scales.resize(Index(layout.rows * layout.groups()));
    for_parts_of_rows(layout, [&](WeightRows rows) {
        for_weight_scales(layout, rows, [&](std::int64_t row, std::int64_t group, std::int64_t at) {
            weight.scales[Index(row * layout.groups() + group)] =
                static_cast<std::uint16_t>(words[Index(at / 2)] >> at % 2 * 16);
        });
        for_weight_lines(layout, rows, [&](const WeightLine& line) {
            const std::uint32_t steps = steps_of(layout, line, words);
            std::int8_t* const to = &weight.numbers[Index(line.row * layout.depth + line.step)];
            for (std::int64_t i = 0; i < line.count; ++i)
                to[i] = static_cast<std::int8_t>(layout.storage.bits == 8
                                                     ? int(steps >> 8 * i & 255U)
                                                     : int((steps >> 4 * i & 15U) ^ 8U) - 8);
        });
    });
    return weight;
}

std::vector<float> dequantize(const WeightLayout& layout, const QuantizedWeight& weight) {
    std::vector<float> values;
    values.reserve(weight.numbers.size());
    for (std::int64_t row = 0; row < layout.rows; ++row)
        for (std::int64_t step = 0; step < layout.depth; ++step) {
            const std::int64_t group = row * layout.groups() + step / layout.storage.group;
            values.push_back(static_cast<float>(weight.numbers[values.size()]) *
                             scale_of(weight.scales[Index(group)]));
        }
    return values;
}

}  // namespace fovea::runtime
