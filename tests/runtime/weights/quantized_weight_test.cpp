// Weights of 8 and 4 bits: how far they are off, and how they lie.
#include "runtime/weights/quantized_weight.h"
#include "runtime/weights/storage_name.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/error.h"

using namespace fovea::runtime;

namespace {

/// Of sizes from group to group, with an outlier in some.
std::vector<float> values_of(std::int64_t rows, std::int64_t depth) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < rows * depth; ++i)
        values.push_back(std::sin(float(i) * 1.7F) * std::exp2(float(i / 29 % 9 - 4)) *
                         (i % 31 == 5 ? 3.F : 1.F));
    return values;
}

float scale(const QuantizedWeight& weight, std::size_t i) {
    return std::bit_cast<float>(std::uint32_t{weight.scales[i]} << 16);
}

}  // namespace

TEST_CASE("a number of 8 bits is off by half its scale at most, and the scale is the largest's") {
    for (const std::int64_t depth : {1, 31, 32, 100}) {
        const WeightLayout layout{{8, 32}, 3, depth};
        const std::vector<float> values = values_of(3, depth);
        const QuantizedWeight weight = quantize(layout, values, "w");
        const std::vector<float> near = dequantize(layout, weight);
        REQUIRE(near.size() == values.size());
        for (std::size_t row = 0; row < 3; ++row)
            for (std::int64_t group = 0; group < layout.groups(); ++group) {
                const float step =
                    scale(weight, row * std::size_t(layout.groups()) + std::size_t(group));
                float largest = 0;
                for (std::int64_t k = group * 32; k < std::min(depth, group * 32 + 32); ++k) {
                    const std::size_t i = row * std::size_t(depth) + std::size_t(k);
                    largest = std::max(largest, std::abs(values[i]));
                    CHECK(std::abs(near[i] - values[i]) <= step * 0.5001F);
                }
                CHECK(step >= largest / 127);
                CHECK(step <= largest / 127 * 1.01F);
            }
    }
}

TEST_CASE("numbers of 4 bits are off by a tenth of the values, root mean square") {
    const WeightLayout layout{{4, 32}, 5, 96};
    const std::vector<float> values = values_of(5, 96);
    const std::vector<float> near = dequantize(layout, quantize(layout, values, "w"));
    double error = 0, sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        error += std::pow(near[i] - values[i], 2);
        sum += std::pow(values[i], 2);
    }
    CHECK(std::sqrt(error / sum) < 0.1);
}

TEST_CASE("values that numbers have are kept where one is the largest, and so is 0") {
    for (const int bits : {8, 4}) {
        const WeightLayout layout{{bits, 16}, 2, 40};
        QuantizedWeight weight;
        const int largest = bits == 8 ? 127 : 7;  // one in each group
        for (int i = 0; i < 80; ++i)
            weight.numbers.push_back(
                std::int8_t(i % 40 % 16 == 3 ? -largest : (i * 37) % (2 * largest + 1) - largest));
        weight.scales = {0x3c80, 0x3f81, 0x4000, 0x0080, 0x3dcd, 0x3c23};
        const std::vector<float> values = dequantize(layout, weight);
        CHECK(dequantize(layout, quantize(layout, values, "w")) == values);
        const std::vector<float> zeros(80);
        CHECK(dequantize(layout, quantize(layout, zeros, "w")) == zeros);
    }
}

TEST_CASE("numbers are packed and unpacked for all sizes") {
    for (const int bits : {8, 4})
        for (const std::int64_t rows : {1, 15, 16, 33})
            for (const std::int64_t depth : {1, 15, 48, 65, 128}) {
                const WeightLayout layout{{bits, 16}, rows, depth};
                const QuantizedWeight weight = quantize(layout, values_of(rows, depth), "w");
                std::vector<std::uint32_t> words(std::size_t(layout.words()), 77U);
                pack(layout, weight, words);
                const QuantizedWeight again = unpack(layout, words);
                CHECK(again.numbers == weight.numbers);
                CHECK(again.scales == weight.scales);
            }
}

TEST_CASE("a group as long as a row is packed in parts with one scale") {
    for (const int bits : {8, 4})
        for (const int group : {96, 112, 512}) {
            const WeightLayout layout{{bits, group}, 19, 96};
            REQUIRE(layout.group < group);
            const QuantizedWeight weight = quantize(layout, values_of(19, 96), "w");
            REQUIRE(weight.scales.size() == 19 * std::size_t(layout.groups()));
            std::vector<std::uint32_t> words(std::size_t(layout.words()), 77U);
            pack(layout, weight, words);
            const QuantizedWeight again = unpack(layout, words);
            CHECK(again.numbers == weight.numbers);
            CHECK(again.scales == weight.scales);
        }
}

TEST_CASE("what is not finite has no number, and other types and groups are refused") {
    const WeightLayout layout{{8, 32}, 1, 2};
    const std::vector<float> values = {1, std::numeric_limits<float>::infinity()};
    CHECK_THROWS_WITH_AS(quantize(layout, values, "dense.weight"),
                         "'dense.weight' has a value that is not finite: int8 of it has none",
                         UserError);
    CHECK(parse_weight_storage("int4:64", "x") == WeightStorage{4, 64});
    for (const char* text : {"int8", "int8:", "int8:0", "int8:24", "int2:32", "int8:8192", ""})
        CHECK_THROWS_AS(parse_weight_storage(text, "x"), UserError);
}
