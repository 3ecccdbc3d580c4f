// softmax and masked softmax against their formulas.
#include "codegen/ops/softmax.h"

#include "codegen/ops/reduction.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("softmax over every axis") {
    for (const Extents& shape : {Extents{5}, Extents{2, 3}, Extents{2, 3, 4}, Extents{3, 1}})
        for (int axis = 0; axis < int(shape.size()); ++axis) {
            Graph graph;
            Tensor x = input(graph, "x", shape);
            output("y", softmax(x, axis));
            Graph plain;
            Tensor e = exp(input(plain, "x", shape));
            output("y", e / reduce(Reduction::sum, e, 1 << axis));
            Arrays arrays{{"x", random_array(shape, 12, -3, 3)}};
            check_close(run(graph, arrays), run(plain, arrays));
            check_gradients(graph, arrays);
        }
}

TEST_CASE("large scores do not overflow, and no key gives no weight") {
    Graph graph;
    output("y", softmax(input(graph, "x", {2})));
    check_close(run(graph, {{"x", {{2}, {1000, 1000}}}}), filled({2}, 0.5));
    Graph empty;
    output("y", softmax(input(empty, "x", {2, 0})));
    check_close(run(empty, {{"x", filled({2, 0}, 0)}}), filled({2, 0}, 0));
}

TEST_CASE("hidden keys get exactly 0 beside a score of any size") {
    for (double low : {-1e7, -1e20, -3e38}) {
        CAPTURE(low);
        Graph graph;
        Tensor lens = input(graph, "lens", {2}, i32);
        output("y", masked_softmax(input(graph, "x", {2, 1, 4}), padding(lens)));
        Arrays arrays{{"x", {{2, 1, 4}, {low, 1.5 * low / 2, 3, 1, low, low, low, low}}},
                      {"lens", {{2}, {1, 0}}}};
        CHECK(run(graph, arrays).values == std::vector<double>{1, 0, 0, 0, 0.25, 0.25, 0.25, 0.25});
    }
}

namespace {

struct Case {
    bool causal, lens_of_queries, has_lens, has_allowed;
    MaskedRows rows;
    bool window;
};

/// The weights by their definition; scores [batch, queries, keys].
Array expected_weights(const Array& scores, const Case& c, const Array& lens, const Array& seen) {
    Array weights = scores;
    std::int64_t batches = scores.shape[0], queries = scores.shape[1], keys = scores.shape[2];
    for (std::int64_t b = 0; b < batches; ++b)
        for (std::int64_t q = 0; q < queries; ++q) {
            double total = 0;
            std::int64_t row = (b * queries + q) * keys, count = 0;
            for (std::int64_t k = 0; k < keys; ++k) {
                double length = lens.values[std::size_t(c.lens_of_queries ? b * queries + q : b)];
                bool kept = (!c.has_lens || double(k) < length) && (!c.causal || k <= q) &&
                            (!c.window || (k >= q && k <= q + 2)) &&
                            (!c.has_allowed || seen.values[std::size_t(q * keys + k)] != 0);
                double& weight = weights.values[std::size_t(row + k)];
                weight = kept ? std::exp(weight) : 0;
                total += weight;
                count += kept;
            }
            for (std::int64_t k = 0; k < keys; ++k) {
                double& weight = weights.values[std::size_t(row + k)];
                if (count) weight /= total;
                else weight = c.rows == MaskedRows::zero ? 0 : 1.0 / double(keys);
            }
        }
    return weights;
}

}  // namespace

TEST_CASE("masked softmax: lengths, causality, booleans, rows masked whole") {
    const Extents shape{3, 2, 5};
    Arrays arrays{{"x", random_array(shape, 13, -3, 3)},
                  {"allowed", {{2, 5}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 0}}}};
    for (int bits = 0; bits < 64; ++bits) {
        Case c{bool(bits & 1),
               bool(bits & 2),
               bool(bits & 4),
               bool(bits & 8),
               bits & 16 ? MaskedRows::zero : MaskedRows::uniform,
               bool(bits & 32)};
        arrays["lens"] =
            c.lens_of_queries ? Array{{3, 2}, {5, 0, 3, 1, 2, 4}} : Array{{3}, {0, 3, 5}};
        Graph graph;
        Tensor x = input(graph, "x", shape);
        Mask mask = no_mask.with(c.rows);
        if (c.causal) mask = mask & causal;
        if (c.window) mask = mask & window(0, 2);
        if (c.has_lens) mask.lens = input(graph, "lens", arrays["lens"].shape, i32);
        if (c.has_allowed) mask.allowed = input(graph, "allowed", {2, 5}, DType::boolean);
        output("y", masked_softmax(x, mask));
        INFO("case ", bits);
        check_close(run(graph, arrays),
                    expected_weights(arrays["x"], c, arrays["lens"], arrays["allowed"]));
        check_gradients(graph, arrays);
    }
}
