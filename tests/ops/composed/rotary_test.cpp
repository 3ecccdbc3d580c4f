// Rotary positions: values by the formulas of the papers, in double precision, and gradients.
#include "codegen/ops/composed/rotary.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kTurn = 6.283185307179586477;
constexpr double kExact = 1e-9;  // angles of 131072 in double precision

/// Frequencies of a checkpoint, one after the other: as the formulas have them.
std::vector<double> frequencies(int width, const RotaryOptions& o) {
    std::vector<double> all;
    const RotaryScaling& s = o.scaling;
    const double length = s.original_max_position_embeddings;
    const auto column = [&](double turns) {
        return width * std::log(length / (turns * kTurn)) / (2 * std::log(o.theta));
    };
    double low = std::max(std::floor(column(s.beta_fast)), 0.0);
    double high = std::min(std::ceil(column(s.beta_slow)), double(width - 1));
    if (low == high) high += 0.001;
    for (int i = 0; i < width / 2; ++i) {
        const double f = std::pow(o.theta, -2.0 * i / width), divided = f / s.factor;
        const double turns = length * f / kTurn;
        double kept = 1;
        if (s.rope_type == RotaryScale::linear) kept = 0;
        if (s.rope_type == RotaryScale::llama3) {
            kept = (turns - s.low_freq_factor) / (s.high_freq_factor - s.low_freq_factor);
            kept = std::clamp(kept, 0.0, 1.0);
        }
        if (s.rope_type == RotaryScale::yarn)
            kept = 1 - std::clamp((i - low) / (high - low), 0.0, 1.0);
        all.push_back(kept * f + (1 - kept) * divided);
    }
    return all;
}

/// x [rows, len, features], each row of len at `positions[row % its rows][t]`, turned.
Array turned(const Array& x, const Array& positions, int width, const RotaryOptions& o) {
    Array y = x;
    const std::vector<double> f = frequencies(width, o);
    const std::int64_t features = x.shape.back(), len = x.shape[x.shape.size() - 2];
    const std::int64_t rows = x.size() / std::max<std::int64_t>(features * len, 1);
    const std::int64_t apart = rows * len / std::max<std::int64_t>(positions.size(), 1);
    double size = 1;
    if (o.scaling.rope_type == RotaryScale::yarn)
        size = o.scaling.attention_factor != 0 ? o.scaling.attention_factor
                                               : 0.1 * std::log(o.scaling.factor) + 1;
    const bool halves = o.pairs == RotaryPairs::halves;
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t t = 0; t < len; ++t)
            for (std::int64_t i = 0; i < width / 2; ++i) {
                const std::int64_t at = (row * len + t) * features;
                const auto a = std::size_t(at + (halves ? i : 2 * i));
                const auto b = std::size_t(at + (halves ? i + width / 2 : 2 * i + 1));
                const double position = positions.values[std::size_t(row / apart * len + t)];
                const double angle = position * f[std::size_t(i)];
                const double c = size * std::cos(angle), s = size * std::sin(angle);
                y.values[a] = x.values[a] * c - x.values[b] * s;
                y.values[b] = x.values[b] * c + x.values[a] * s;
            }
    return y;
}

Array counted(std::int64_t len, double first) {
    Array positions{{len}, {}};
    for (std::int64_t t = 0; t < len; ++t) positions.values.push_back(first + double(t));
    return positions;
}

void check_counted(const Extents& shape, int width, const RotaryOptions& options) {
    CAPTURE(shape.size());
    CAPTURE(width);
    Graph graph;
    output("y", rotary(input(graph, "x", shape), options));
    const Array x = random_array(shape, 7);
    const double first = options.offset.is_static() ? double(options.offset.value()) : 0;
    check_close(run(graph, {{"x", x}}),
                turned(x, counted(shape[shape.size() - 2], first), width, options), kExact);
    check_gradients(graph, {{"x", x}});
}
void check_given(const Extents& shape, const Array& positions, const RotaryOptions& options) {
    Graph graph;
    Tensor x = input(graph, "x", shape), at = input(graph, "at", positions.shape, i32);
    output("y", rotary(x, at, options));
    const Arrays arrays{{"x", random_array(shape, 8)}, {"at", positions}};
    check_close(run(graph, arrays), turned(arrays.at("x"), positions, int(shape.back()), options),
                kExact);
    check_gradients(graph, arrays);
}

}  // namespace

TEST_CASE("halves and neighbours are turned by their positions") {
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
        check_counted({2, 3, 5, 8}, 8, {.pairs = pairs});
        check_counted({2, 5, 6}, 6, {.theta = 500000, .pairs = pairs, .offset = 100});
        check_counted({3, 2}, 2, {.pairs = pairs});
        check_counted({1, 1, 1, 4}, 4, {.pairs = pairs, .offset = 131071});
        check_counted({2, 1, 2, 3, 4}, 4, {.pairs = pairs});
    }
}

TEST_CASE("the first features are turned, the others stay") {
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
        check_counted({2, 2, 4, 10}, 4, {.pairs = pairs, .width = 4});
        check_counted({3, 7}, 6, {.pairs = pairs, .width = 6});
        check_counted({3, 7}, 2, {.pairs = pairs, .width = 2, .offset = 5});
    }
}

TEST_CASE("positions may be given, for all sequences or for each") {
    for (const RotaryPairs pairs : {RotaryPairs::halves, RotaryPairs::neighbours}) {
        check_given({2, 3, 4, 6}, {{4}, {0, 7, 3, 131072}}, {.pairs = pairs});
        check_given({2, 3, 4, 6}, {{2, 4}, {0, 7, 3, 131072, 5, 5, 99999, 1}}, {.pairs = pairs});
        check_given({2, 4, 6}, {{2, 4}, {0, 7, 3, 131072, 5, 5, 99999, -3}}, {.pairs = pairs});
        check_given({3, 4}, {{3}, {2, 0, 1}}, {.pairs = pairs});
    }
}

TEST_CASE("frequencies are scaled as in checkpoints") {
    const RotaryScaling llama{.rope_type = RotaryScale::llama3, .factor = 8};
    const RotaryScaling yarn{
        .rope_type = RotaryScale::yarn, .factor = 4, .original_max_position_embeddings = 32768};
    const RotaryScaling scalings[] = {
        {.rope_type = RotaryScale::linear, .factor = 3},
        llama,
        {.rope_type = RotaryScale::llama3,
         .factor = 2,
         .original_max_position_embeddings = 100,
         .low_freq_factor = 0.5},
        {.rope_type = RotaryScale::llama3, .factor = 2, .original_max_position_embeddings = 1e9},
        {.rope_type = RotaryScale::llama3, .factor = 2, .original_max_position_embeddings = 2},
        yarn,
        {.rope_type = RotaryScale::yarn,
         .factor = 16,
         .original_max_position_embeddings = 50,
         .attention_factor = 0.5},
        {.rope_type = RotaryScale::yarn, .factor = 2, .original_max_position_embeddings = 1e6}};
    for (const RotaryScaling& scaling : scalings) {
        const RotaryOptions options{.theta = 500000, .offset = 131072 - 3, .scaling = scaling};
        check_counted({2, 6, 128}, 128, options);
        check_counted({4, 24}, 24, {.offset = 1000, .scaling = scaling});
        check_counted({4, 2}, 2, {.offset = 1000, .scaling = scaling});
    }
}

TEST_CASE("options by their names, and a table") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 4}), at = input(graph, "at", {3}, i32);
    Tensor y = rotary(x, {.pairs = RotaryPairs::neighbours});
    Tensor z = rotary(x, at, {.pairs = RotaryPairs::neighbours});
    Tensor table = rotary(x, rotary_table(graph, 3, 4, {.pairs = RotaryPairs::neighbours}));
    output("y", y - z);
    output("z", y - table);
    const Arrays arrays{{"x", random_array({3, 4}, 5)}, {"at", {{3}, {0, 1, 2}}}};
    check_close(run(graph, arrays), filled({3, 4}, 0));
    check_close(run(graph, arrays, "z"), filled({3, 4}, 0));
}

TEST_CASE("nothing to turn") {
    check_counted({2, 0, 4}, 4, {});
    check_counted({0, 3, 4}, 4, {});
    check_counted({2, 3, 0}, 0, {});
}

TEST_CASE("a turn leaves lengths, and bfloat16 is turned in float32") {
    Graph graph;
    output("y", cast(rotary(cast(input(graph, "x", {40, 16}), bf16), {.offset = 131000}), f32));
    Array x = random_array({40, 16}, 3);
    for (double& value : x.values) value = kBfloat16Format.nearest(value);
    const Array y = run(graph, {{"x", x}});
    for (std::size_t t = 0; t < 40; ++t) {
        double before = 0, after = 0;
        for (std::size_t i = 0; i < 16; ++i) {
            before += x.values[t * 16 + i] * x.values[t * 16 + i];
            after += y.values[t * 16 + i] * y.values[t * 16 + i];
        }
        CHECK(after == doctest::Approx(before).epsilon(0.01));
    }
}
