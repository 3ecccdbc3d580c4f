// Attention with scores of every kind, against loops over pairs.
#include "codegen/ops/attention/attention.h"

#include <functional>

#include "codegen/ops/concat.h"
#include "codegen/ops/contraction.h"
#include "codegen/ops/gather.h"
#include "runtime/training/philox.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::int64_t kBatch = 2, kHeads = 3, kQueries = 4, kKeys = 5, kWidth = 3, kValues = 2;

struct PairAt {
    const double *q, *k;
    std::size_t head, i, j;
};

using Score = std::function<double(const PairAt&)>;

double product(const PairAt& p) {
    double total = 0;
    for (std::size_t d = 0; d < kWidth; ++d) total += p.q[d] * p.k[d];
    return total;
}

/// softmax over those of the first `lens[b]` keys that the window leaves of the score, times v.
Array expected(const Arrays& arrays, const Score& score, const KeyWindow& window) {
    const double *q = arrays.at("q").values.data(), *k = arrays.at("k").values.data(),
                 *v = arrays.at("v").values.data();
    Array y{{kBatch, kHeads, kQueries, kValues}, {}};
    for (std::size_t bh = 0; bh < kBatch * kHeads; ++bh)
        for (std::size_t i = 0; i < kQueries; ++i) {
            double length = arrays.at("lens").values[bh / kHeads], weights[kKeys]{}, total = 0;
            for (std::size_t j = 0; j < kKeys; ++j) {
                const auto ahead = std::int64_t(j) - std::int64_t(i);
                if (double(j) >= length || ahead > window.after || -ahead > window.before) continue;
                weights[j] = std::exp(score({q + (bh * kQueries + i) * kWidth,
                                             k + (bh * kKeys + j) * kWidth, bh % kHeads, i, j}));
                total += weights[j];
            }
            for (std::size_t e = 0; e < kValues; ++e) {
                double sum = 0;
                for (std::size_t j = 0; j < kKeys; ++j)
                    sum += (total > 0 ? weights[j] / total : 1.0 / kKeys) *
                           v[(bh * kKeys + j) * kValues + e];
                y.values.push_back(sum);
            }
        }
    return y;
}

struct Built {
    Graph graph;
    Arrays arrays;
    Tensor q, k, v, lens, slopes, weight;

    Built() {
        auto add = [&](const char* name, const Extents& shape) {
            arrays[name] = random_array(shape, 20 + unsigned(arrays.size()));
            return input(graph, name, shape);
        };
        q = add("q", {kBatch, kHeads, kQueries, kWidth});
        k = add("k", {kBatch, kHeads, kKeys, kWidth});
        v = add("v", {kBatch, kHeads, kKeys, kValues});
        slopes = add("slopes", {kHeads});
        weight = add("w", {kWidth, kWidth});
        lens = input(graph, "lens", {kBatch}, i32);
        arrays["lens"] = {{kBatch}, {0, 4}};
    }
};

template <class F>
void check_score(F&& score, const Score& known) {
    for (const Mask& positions : {no_mask, causal, window(1, 0), window(0, 2)}) {
        Built b;
        const Mask mask = padding(b.lens) & positions;
        output("y", attention(b.q, b.k, b.v, [&](Pair p) { return score(b, p); }, mask));
        Score bound = [&](const PairAt& at) { return known(at); };
        check_close(run(b.graph, b.arrays), expected(b.arrays, bound, positions.window));
        check_gradients(b.graph, b.arrays);
    }
}

/// Copies of each head of x [batch, groups, keys, width] beside each other, as PyTorch's
/// repeat_interleave along axis 1 makes them.
Array repeated(const Array& x, std::int64_t times) {
    const std::int64_t groups = x.shape[1], head = x.shape[2] * x.shape[3];
    Array y{{x.shape[0], groups * times, x.shape[2], x.shape[3]}, {}};
    for (std::int64_t bg = 0; bg < x.shape[0] * groups; ++bg)
        for (std::int64_t m = 0; m < times; ++m)
            y.values.insert(y.values.end(), x.values.begin() + bg * head,
                            x.values.begin() + (bg + 1) * head);
    return y;
}

int largest_rank(const Graph& graph) {
    int rank = 0;
    for (const Node& node : graph.nodes) rank = std::max(rank, node.shape.rank());
    return rank;
}

}  // namespace

TEST_CASE("the dot product") {
    check_score([](Built&, Pair p) { return dot_product(p); },
                [](const PairAt& p) { return product(p) / std::sqrt(double(kWidth)); });
}

TEST_CASE("scores with constants, soft caps and distances") {
    check_score([](Built&, Pair p) { return tanh(dot(p.q, p.k) / 2.0) * 2.0; },
                [](const PairAt& p) { return std::tanh(product(p) / 2) * 2; });
    check_score([](Built&, Pair p) { return dot(p.q, p.k) - cast(p.i - p.j, f32) * 0.25; },
                [](const PairAt& p) { return product(p) - 0.25 * (double(p.i) - double(p.j)); });
}

TEST_CASE("a scale of one's own") {
    check_score([](Built&, Pair p) { return scaled_dot_product(0.25)(p); },
                [](const PairAt& p) { return product(p) * 0.25; });
}

TEST_CASE("neighbouring heads of queries share keys and values") {
    constexpr std::int64_t heads = 4;
    const auto build = [&](std::int64_t groups, bool weights, Graph& graph) {
        Tensor q = input(graph, "q", {kBatch, heads, kQueries, kWidth});
        Tensor k = input(graph, "k", {kBatch, groups, kKeys, kWidth});
        Tensor v = input(graph, "v", {kBatch, groups, kKeys, kValues});
        Tensor slopes = input(graph, "slopes", {heads});
        const auto score = [=](Pair p) {
            return dot_product(p) + gather(slopes, p.head) * cast(p.i - p.j, f32);
        };
        output("y", weights ? attention_weights(q, k, score, causal)
                            : attention(q, k, v, score, causal));
    };
    for (std::int64_t groups : {1, 2, 4})
        for (bool weights : {false, true}) {
            Graph grouped, whole;
            build(groups, weights, grouped);
            build(heads, weights, whole);
            Arrays arrays;
            arrays["q"] = random_array({kBatch, heads, kQueries, kWidth}, 1);
            arrays["k"] = random_array({kBatch, groups, kKeys, kWidth}, 2);
            arrays["v"] = random_array({kBatch, groups, kKeys, kValues}, 3);
            arrays["slopes"] = random_array({heads}, 4);
            Arrays copies = arrays;
            for (const char* name : {"k", "v"})
                copies[name] = repeated(arrays[name], heads / groups);
            check_close(run(grouped, arrays), run(whole, copies));
            if (!weights) check_gradients(grouped, arrays);
        }
}

TEST_CASE("scores that read other values of the model") {
    Array slopes = Built().arrays["slopes"], weight = Built().arrays["w"];
    check_score(
        [](Built& b, Pair p) { return dot(p.q, p.k) + gather(b.slopes, p.head) * cast(p.j, f32); },
        [&](const PairAt& p) { return product(p) + slopes.values[p.head] * double(p.j); });
    auto bilinear = [&](const PairAt& p) {
        double total = 0;
        for (std::size_t o = 0; o < kWidth; ++o)
            for (std::size_t i = 0; i < kWidth; ++i)
                total += p.q[i] * weight.values[o * kWidth + i] * p.k[o];
        return total;
    };
    check_score([](Built& b, Pair p) { return dot(linear_product(p.q, b.weight, {}), p.k); },
                bilinear);
    auto row = [](Tensor w) { return squeeze(slice(w, 0, 0, 1), 0); };
    check_score([&](Built& b, Pair p) { return dot(row(b.weight), tanh(p.q + p.k)); },
                [&](const PairAt& p) {
                    double total = 0;
                    for (std::size_t d = 0; d < kWidth; ++d)
                        total += weight.values[d] * std::tanh(p.q[d] + p.k[d]);
                    return total;
                });
    check_score([&](Built& b, Pair p) { return sum(p.q * row(b.weight) * p.k * 0.5, -1); },
                [&](const PairAt& p) {
                    double total = 0;
                    for (std::size_t d = 0; d < kWidth; ++d)
                        total += p.q[d] * weight.values[d] * p.k[d] * 0.5;
                    return total;
                });
}

TEST_CASE("scores that slice, concat, rearrange and take maxima") {
    check_score(
        [](Built&, Pair p) {
            Tensor both = concat(slice(p.q, 0, 1, 2), p.k, 0);
            return amax(rearrange(unsqueeze(both, 0), "1 d -> d"), 0);
        },
        [](const PairAt& p) {
            double most = std::max(p.q[1], p.q[2]);
            for (std::size_t d = 0; d < kWidth; ++d) most = std::max(most, p.k[d]);
            return most;
        });
    check_score([](Built&, Pair p) { return einsum("d, d -> ", p.q, p.k); }, product);
    check_score([](Built&, Pair p) { return sum(softmax(p.q) * p.k, 0); },
                [](const PairAt& p) {
                    double total = 0, weighted = 0;
                    for (std::size_t d = 0; d < kWidth; ++d) {
                        total += std::exp(p.q[d]);
                        weighted += std::exp(p.q[d]) * p.k[d];
                    }
                    return weighted / total;
                });
}

TEST_CASE("the product of all pairs' vectors is not formed") {
    Built b;
    auto score = [&](Pair p) { return sum(p.q * p.k * 0.5, -1) / sqrt(p.q.dim(-1)); };
    output("y", attention(b.q, b.k, b.v, score));
    Graph plain = optimized(b.graph);
    for (const Node& node : plain.nodes) CHECK(node.shape.rank() <= 4);
    CHECK(largest_rank(plain) == 4);
}

TEST_CASE("without heads, and with a mask of booleans") {
    Graph graph;
    Tensor q = input(graph, "q", {2, 3, 4}), k = input(graph, "k", {2, 5, 4}),
           v = input(graph, "v", {2, 5, 1}), seen = input(graph, "seen", {3, 5}, DType::boolean);
    auto score = [](Pair p) { return dot(p.q, p.k) + cast(p.head + p.batch, f32); };
    Mask mask = allowed(seen).with(MaskedRows::zero);
    output("y", attention(q, k, v, score, mask));
    Arrays arrays{{"q", random_array({2, 3, 4}, 30)},
                  {"k", random_array({2, 5, 4}, 31)},
                  {"v", random_array({2, 5, 1}, 32)},
                  {"seen", {{3, 5}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}}};
    Array y = run(graph, arrays);
    CHECK(y.values[1] == 0);
    check_gradients(graph, arrays);
}

TEST_CASE("dropout of the weights, drawn again in the backward pass") {
    Built b;
    output("y", attention(b.q, b.k, b.v, dot_product, padding(b.lens), {.dropout = 0.5}));
    check_gradients(b.graph, b.arrays, {.training = true, .seed = 5, .step = 2});
    Array trained = run(b.graph, b.arrays, "y", {.training = true, .seed = 5, .step = 2});
    CHECK(difference(trained, run(b.graph, b.arrays)) > 1e-3);
}

TEST_CASE("the weights by themselves, of one head or all") {
    Built b;
    Tensor weights = attention_weights(b.q, b.k, dot_product, padding(b.lens));
    CHECK(weights.shape() == Shape{kBatch, kHeads, kQueries, kKeys});
    output("y", einsum("b h q k, b h k e -> b h q e", weights, b.v));
    check_gradients(b.graph, b.arrays);
    output("one", attention_weights(slice(b.q, 1, 2, 1), slice(b.k, 1, 2, 1), dot_product,
                                    padding(b.lens)));
    output("all", weights);
    check_close(
        run(b.graph, b.arrays),
        expected(
            b.arrays, [](const PairAt& p) { return product(p) / std::sqrt(double(kWidth)); },
            KeyWindow{}));
    Array all = run(b.graph, b.arrays, "all"), one = run(b.graph, b.arrays, "one");
    constexpr std::size_t kOne = kQueries * kKeys;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
        std::size_t batch = i / kOne;
        CHECK(one.values[i] ==
              doctest::Approx(all.values[(batch * kHeads + 2) * kOne + i % kOne]).epsilon(1e-12));
    }
}
