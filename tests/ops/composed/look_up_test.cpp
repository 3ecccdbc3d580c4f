// Elements of tables by several ids: values as those of loops, gradients as slopes.
#include "codegen/ops/composed/look_up.h"

#include <cmath>
#include <functional>

#include "codegen/ops/attention/attention.h"
#include "codegen/ops/composed/arithmetic.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::int64_t kLookUpBatch = 2, kLookUpHeads = 3, kLookUpQueries = 4, kLookUpKeys = 5,
                       kLookUpWidth = 2;

/// Attention of two numbers a vector, whose scores are their products and `bias(h, i, j)`.
Array biased(const Arrays& arrays,
             const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& bias) {
    const double *q = arrays.at("q").values.data(), *k = arrays.at("k").values.data();
    Array y{{kLookUpBatch, kLookUpHeads, kLookUpQueries, kLookUpWidth}, {}};
    for (std::int64_t bh = 0; bh < kLookUpBatch * kLookUpHeads; ++bh)
        for (std::int64_t i = 0; i < kLookUpQueries; ++i) {
            double total = 0, sums[kLookUpWidth]{};
            for (std::int64_t j = 0; j < kLookUpKeys; ++j) {
                double score = bias(bh % kLookUpHeads, i, j);
                for (int d = 0; d < kLookUpWidth; ++d)
                    score += q[(bh * kLookUpQueries + i) * kLookUpWidth + d] *
                             k[(bh * kLookUpKeys + j) * kLookUpWidth + d];
                const double weight = std::exp(score);
                total += weight;
                for (int d = 0; d < kLookUpWidth; ++d)
                    sums[d] += weight * k[(bh * kLookUpKeys + j) * kLookUpWidth + d];
            }
            for (double sum : sums) y.values.push_back(sum / total);
        }
    return y;
}

/// With a score that adds `look_up(table, pair)`.
template <class LookUp, class Bias>
void check_table(const Extents& shape, LookUp&& look_up, Bias&& bias) {
    Graph graph;
    Tensor q = input(graph, "q", {kLookUpBatch, kLookUpHeads, kLookUpQueries, kLookUpWidth});
    Tensor k = input(graph, "k", {kLookUpBatch, kLookUpHeads, kLookUpKeys, kLookUpWidth});
    Tensor table = input(graph, "table", shape);
    output("y", attention(q, k, k, [&](Pair p) { return dot(p.q, p.k) + look_up(table, p); }));
    const Arrays arrays{
        {"q", random_array({kLookUpBatch, kLookUpHeads, kLookUpQueries, kLookUpWidth}, 1)},
        {"k", random_array({kLookUpBatch, kLookUpHeads, kLookUpKeys, kLookUpWidth}, 2)},
        {"table", random_array(shape, 3)}};
    check_close(run(graph, arrays), biased(arrays, [&](auto... at) {
                    return arrays.at("table").values[std::size_t(bias(at...))];
                }));
    check_gradients(graph, arrays);
}

}  // namespace

TEST_CASE("elements by an id for each axis, and rows by ids of the first ones") {
    const Arrays arrays{
        {"t", counting({2, 3, 2})}, {"a", {{2, 1}, {1, 0}}}, {"b", {{3}, {0, 2, 1}}}};
    const auto check = [&](const Array& expected, auto&& look_up) {
        Graph graph;
        Tensor table = input(graph, "t", {2, 3, 2});
        Tensor a = input(graph, "a", {2, 1}, i32), b = input(graph, "b", {3}, i32);
        output("y", look_up(table, a, b));
        check_close(run(graph, arrays), expected);
        check_gradients(graph, arrays);
    };
    check({{2, 3}, {6, 10, 9, 0, 4, 3}},
          [](Tensor table, Tensor a, Tensor b) { return at(table, {a, b, b % 2}); });
    check({{2, 3, 2}, {6, 7, 10, 11, 8, 9, 0, 1, 4, 5, 2, 3}},
          [](Tensor table, Tensor a, Tensor b) { return at(table, {a, b}); });
    check({{2, 1, 3, 2}, {6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5}},
          [](Tensor table, Tensor a, Tensor) { return at(table, {a}); });
}

TEST_CASE("an id outside of its axis is an error, though the table has such a place") {
    Graph graph;
    Tensor ids = input(graph, "ids", {2}, i32);
    output("y", at(input(graph, "t", {3, 2}), {ids, ids}));
    const Arrays arrays{{"t", counting({3, 2})}, {"ids", {{2}, {0, 2}}}};
    CHECK_THROWS_WITH_AS(run(graph, arrays), doctest::Contains("ids are from 0 to 1"), UserError);
}

TEST_CASE("a score looks up tables by integers of the pair") {
    const auto far = [](std::int64_t i, std::int64_t j) {
        return std::clamp<std::int64_t>(j - i, -2, 2) + 2;
    };
    check_table(
        {5, kLookUpHeads},
        [](Tensor table, Pair p) { return at(table, {clamp(p.j - p.i, -2, 2) + 2, p.head}); },
        [&](auto h, auto i, auto j) { return far(i, j) * kLookUpHeads + h; });
    check_table(
        {kLookUpHeads, 5},
        [](Tensor table, Pair p) { return at(table, {p.head, clamp(p.j - p.i, -2, 2) + 2}); },
        [&](auto h, auto i, auto j) { return h * 5 + far(i, j); });
    check_table(
        {7}, [](Tensor table, Pair p) { return at(table, {(p.i * 3 + p.j) % 7}); },
        [](auto, auto i, auto j) { return (i * 3 + j) % 7; });
    check_table(
        {2, kLookUpHeads, 3},
        [](Tensor table, Pair p) { return at(table, {p.i / 2, p.head, p.j / 2}); },
        [](auto h, auto i, auto j) { return (i / 2 * kLookUpHeads + h) * 3 + j / 2; });
}

TEST_CASE("a score looks up a vector of the pair") {
    Graph graph;
    Tensor q = input(graph, "q", {kLookUpBatch, kLookUpHeads, kLookUpQueries, kLookUpWidth});
    Tensor k = input(graph, "k", {kLookUpBatch, kLookUpHeads, kLookUpKeys, kLookUpWidth});
    output("y", attention(q, k, k, [&](Pair p) { return dot(p.q, p.k) + gather(p.q, p.j % 2); }));
    const Arrays arrays{
        {"q", random_array({kLookUpBatch, kLookUpHeads, kLookUpQueries, kLookUpWidth}, 1)},
        {"k", random_array({kLookUpBatch, kLookUpHeads, kLookUpKeys, kLookUpWidth}, 2)}};
    const std::vector<double>& values = arrays.at("q").values;
    std::int64_t row = -1, last = -1;
    check_close(run(graph, arrays), biased(arrays, [&](auto, auto i, auto j) {
                    if (i != last) ++row, last = i;
                    return values[std::size_t(row * kLookUpWidth + j % 2)];
                }));
    check_gradients(graph, arrays);
}
