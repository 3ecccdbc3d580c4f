#include "quantized_weight.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../error.h"
#include "../options.h"

namespace fovea::runtime {

namespace {

using Index = std::size_t;

float scale_of(std::uint16_t bits) { return __builtin_bit_cast(float, std::uint32_t{bits} << 16); }

/// The least bfloat16 that is not less, so that no number is past the range.
std::uint16_t bfloat16_from(float scale) {
    return static_cast<std::uint16_t>((__builtin_bit_cast(std::uint32_t, scale) + 0xffffU) >> 16);
}

int nearest(float value, float scale, int bits) {
    if (scale == 0) return 0;
    const float most = bits == 8 ? 127.F : 7.F, least = bits == 8 ? -127.F : -8.F;
    return static_cast<int>(std::clamp(std::nearbyint(value / scale), least, most));
}

double squared_error(std::span<const float> values, float scale, int bits) {
    double sum = 0;
    for (const float value : values) {
        const float error = value - static_cast<float>(nearest(value, scale, bits)) * scale;
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

}  // namespace

std::string type_name(WeightStorage storage) {
    return storage ? "int" + std::to_string(storage.bits) : "float32";
}

std::string long_name(WeightStorage storage) {
    if (!storage) return type_name(storage);
    return type_name(storage) + " in groups of " + std::to_string(storage.group);
}

std::string storage_text(WeightStorage storage) {
    return type_name(storage) + ":" + std::to_string(storage.group);
}

WeightStorage parse_weight_storage(std::string_view text, std::string_view where) {
    const std::size_t colon = text.find(':');
    for (const int bits : {8, 4}) {
        if (text.substr(0, colon) != type_name({bits, 1}) || colon == text.npos) continue;
        const auto group = parse_integer(std::string(text.substr(colon + 1)));
        if (group && *group >= 16 && *group <= 4096 && *group % 16 == 0)
            return {bits, static_cast<int>(*group)};
    }
    throw UserError("{} should be int8 or int4 with the size of its groups, as int8:32, not '{}'",
                    {where, text});
}

QuantizedWeight quantize(const WeightLayout& layout, std::span<const float> values,
                         std::string_view name) {
    const auto rows = Index(layout.rows), depth = Index(layout.depth),
               groups = Index(layout.groups()), group = Index(layout.storage.group);
    QuantizedWeight weight;
    weight.numbers.resize(rows * depth);
    weight.scales.resize(rows * groups);
    for (Index row = 0; row < rows; ++row)
        for (Index g = 0; g < groups; ++g) {
            const Index first = row * depth + g * group;
            const auto part = values.subspan(first, std::min(group, depth - g * group));
            float largest = 0;
            for (const float value : part) {
                if (!std::isfinite(value))
                    throw UserError("'{}' has a value that is not finite: {} of it has none",
                                    {name, type_name(layout.storage)});
                largest = std::max(largest, std::abs(value));
            }
            const std::uint16_t scale = choose_scale(part, largest, layout.storage.bits);
            weight.scales[row * groups + g] = scale;
            std::transform(part.begin(), part.end(), weight.numbers.begin() + std::ptrdiff_t(first),
                           [&](float value) {
                               return static_cast<std::int8_t>(
                                   nearest(value, scale_of(scale), layout.storage.bits));
                           });
        }
    return weight;
}

void pack(const WeightLayout& layout, const QuantizedWeight& weight,
          std::span<std::uint32_t> words) {
    std::fill(words.begin(), words.end(), 0U);
    const int bits = layout.storage.bits;
    const std::uint32_t mask = bits == 8 ? 255U : 15U;
    const int offset = bits == 8 ? 0 : 8;
    for (std::int64_t row = 0; row < layout.rows; ++row) {
        for (std::int64_t group = 0; group < layout.groups(); ++group)
            words[Index(layout.word_of_scale(row, group))] |=
                std::uint32_t{weight.scales[Index(row * layout.groups() + group)]}
                << group % 2 * 16;
        for (std::int64_t step = 0; step < layout.depth; ++step) {
            const int number = weight.numbers[Index(row * layout.depth + step)] + offset;
            words[Index(layout.word_of(row, step))] |= (static_cast<std::uint32_t>(number) & mask)
                                                       << layout.bit_of(row, step);
        }
    }
}

QuantizedWeight unpack(const WeightLayout& layout, std::span<const std::uint32_t> words) {
    QuantizedWeight weight;
    const int bits = layout.storage.bits;
    for (std::int64_t row = 0; row < layout.rows; ++row) {
        for (std::int64_t group = 0; group < layout.groups(); ++group)
            weight.scales.push_back(static_cast<std::uint16_t>(
                words[Index(layout.word_of_scale(row, group))] >> group % 2 * 16));
        for (std::int64_t step = 0; step < layout.depth; ++step) {
            const std::uint32_t number =
                words[Index(layout.word_of(row, step))] >> layout.bit_of(row, step);
            weight.numbers.push_back(bits == 8 ? static_cast<std::int8_t>(number & 255U)
                                               : static_cast<std::int8_t>(int(number & 15U) - 8));
        }
    }
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
