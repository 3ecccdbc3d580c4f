// The examples of the attention chapters, with the numbers printed there.
#include <cmath>

#include "models/additive_attention.h"
#include "models/multi_head_attention.h"
#include "tests/models/run_everywhere.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double at(const Array& array, std::vector<std::int64_t> index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < index.size(); ++i) place = place * array.shape[i] + index[i];
    return array.values[std::size_t(place)];
}

Graph attention_examples() {
    Graph graph;
    Scope s{&graph};
    Tensor scores = s.input("scores", {2, 2, 4}), lens = s.input("lens", {2}, i32);
    s.output("weights", masked_softmax(scores, padding(lens)));
    Tensor query_lens = s.input("query_lens", {2, 2}, i32);
    s.output("weights_by_query", masked_softmax(scores, padding(query_lens)));

    Tensor keys = s.input("keys", {2, 10, 2}), values = s.input("values", {2, 10, 4});
    Mask mask = padding(s.input("valid_lens", {2}, i32));
    Tensor queries = s.input("queries", {2, 1, 2});
    s.output("dot_product", attention(queries, keys, values, dot_product, mask));
    s.output("dot_product_weights", attention_weights(queries, keys, dot_product, mask));
    Tensor wide = s.input("wide_queries", {2, 1, 20});
    models::AdditiveScore score = models::additive_score(s, wide, keys, 8);
    s.output("additive", attention(score.queries, score.keys, values, score, mask));
    s.output("additive_weights", attention_weights(score.queries, score.keys, score, mask));
    return graph;
}

Arrays attention_inputs() {
    return {{"scores", scattered({2, 2, 4})},
            {"lens", array({2}, {2, 3})},
            {"query_lens", array({2, 2}, {1, 3, 2, 4})},
            {"keys", array_of({2, 10, 2}, [](int) { return 1; })},
            {"values", array_of({2, 10, 4}, [](int i) { return i % 40; })},
            {"valid_lens", array({2}, {2, 6})},
            {"queries", scattered({2, 1, 2})},
            {"wide_queries", scattered({2, 1, 20})},
            {"W_q.weight", scattered({8, 20})},
            {"W_k.weight", scattered({8, 2})},
            {"w_v.weight", scattered({1, 8})}};
}

/// Zero from the length on, softmax of the scores before.
void check_weights(const Array& weights, const Array& scores, const std::vector<int>& lens,
                   double tolerance) {
    REQUIRE(weights.shape == scores.shape);
    for (std::int64_t row = 0; row < 4; ++row) {
        int length = lens[std::size_t(row)];
        double total = 0;
        auto score = [&](int k) { return at(scores, {row / 2, row % 2, k}); };
        for (int k = 0; k < length; ++k) total += std::exp(score(k));
        for (int k = 0; k < 4; ++k) {
            double weight = at(weights, {row / 2, row % 2, k});
            if (k >= length) CHECK(weight == 0);
            else CHECK(std::fabs(weight - std::exp(score(k)) / total) <= tolerance);
        }
    }
}

}  // namespace

TEST_CASE("attention: lengths 2 and 3 of random scores, ones over arange(40)") {
    const Arrays given = attention_inputs();
    run_everywhere("attention_examples", attention_examples(), false, given,
                   [&](Arrays& out, double tolerance) {
                       check_weights(out["weights"], given.at("scores"), {2, 2, 3, 3}, tolerance);
                       check_weights(out["weights_by_query"], given.at("scores"), {1, 3, 2, 4},
                                     tolerance);
                       for (const char* name : {"dot_product", "additive"}) {
                           CAPTURE(name);
                           check_close(out[name], array({2, 1, 4}, {2, 3, 4, 5, 10, 11, 12, 13}),
                                       20 * tolerance);
                           const Array& weights = out[std::string(name) + "_weights"];
                           for (int b = 0; b < 2; ++b)
                               for (int k = 0; k < 10; ++k) {
                                   int length = b ? 6 : 2;
                                   double expected = k < length ? 1.0 / length : 0;
                                   CHECK(std::fabs(at(weights, {b, 0, k}) - expected) <= tolerance);
                               }
                       }
                   });
}

namespace {

Graph normalisation_examples() {
    Graph graph;
    Scope s{&graph};
    Tensor x = s.input("x", {2, 2}), y = s.input("y", {2, 2, 4});
    s.output("layer_norm", layer_norm(s / "ln", x));
    s.output("batch_norm", batch_norm(s / "bn", x, 1, {.track_running_stats = false}));
    s.output("over_one_axis", layer_norm(s / "ln1", y, 1));
    s.output("over_two_axes", layer_norm(s / "ln2", y, 2));
    s.output("batch_norm_of_three_axes",
             batch_norm(s / "bn2", y, 1, {.track_running_stats = false}));
    return graph;
}

/// (x - mean) / √(variance + 1e-5) over the elements of a group; `group(i)` numbers it.
Array normalised(const Array& x, int groups, const std::function<int(int)>& group) {
    Array result = x;
    for (int g = 0; g < groups; ++g) {
        double count = 0, mean = 0, variance = 0;
        auto each = [&](auto&& visit) {
            for (int i = 0; i < int(x.size()); ++i)
                if (group(i) == g) visit(x.values[std::size_t(i)], result.values[std::size_t(i)]);
        };
        each([&](double value, double&) { mean += value, count += 1; });
        mean /= count;
        each([&](double value, double&) { variance += (value - mean) * (value - mean) / count; });
        each([&](double value, double& y) { y = (value - mean) / std::sqrt(variance + 1e-5); });
    }
    return result;
}

}  // namespace

TEST_CASE("layer norm and batch norm of [[1, 2], [2, 3]], and of a (2, 2, 4) tensor") {
    Arrays given = {{"x", array({2, 2}, {1, 2, 2, 3})},
                    {"y", array_of({2, 2, 4}, [](int i) { return i; })}};
    for (const char* norm : {"ln", "bn", "ln1", "ln2", "bn2"}) {
        std::vector<std::int64_t> shape = {2};
        if (norm == std::string("ln1")) shape = {4};
        if (norm == std::string("ln2")) shape = {2, 4};
        given[std::string(norm) + ".weight"] = array_of(shape, [](int) { return 1; });
        given[std::string(norm) + ".bias"] = array_of(shape, [](int) { return 0; });
    }
    const Array y = given["y"];
    run_everywhere(
        "normalisation_examples", normalisation_examples(), false, given,
        [&](Arrays& out, double tolerance) {
            const double one = 0.5 / std::sqrt(0.25 + 1e-5);  // printed as 1.0000
            check_close(out["layer_norm"], array({2, 2}, {-one, one, -one, one}), tolerance);
            check_close(out["batch_norm"], array({2, 2}, {-one, -one, one, one}), tolerance);
            check_close(out["layer_norm"], array({2, 2}, {-1, 1, -1, 1}), 5e-5);
            check_close(out["over_one_axis"], normalised(y, 4, [](int i) { return i / 4; }),
                        tolerance);
            check_close(out["over_two_axes"], normalised(y, 2, [](int i) { return i / 8; }),
                        tolerance);
            check_close(out["batch_norm_of_three_axes"],
                        normalised(y, 2, [](int i) { return i / 4 % 2; }), tolerance);
            const Array rows = array_of({2, 2, 4}, [](int i) {
                const double row[] = {-1.3416, -0.4472, 0.4472, 1.3416};
                return row[i % 4];
            });
            check_close(out["over_one_axis"], rows, 1e-4);
            const Array planes = array_of({2, 2, 4}, [](int i) {
                const double half[] = {0.2182, 0.6547, 1.0911, 1.5275};
                return i % 8 < 4 ? -half[3 - i % 8] : half[i % 8 - 4];
            });
            check_close(out["over_two_axes"], planes, 1e-4);
        });
}

TEST_CASE("the table of sinusoids for 5 positions and width 8") {
    Graph graph;
    Scope s{&graph};
    s.output("table", sinusoids(graph, 5, 8));
    const Array printed =
        array({5, 8},
              {0.0000, 1.0000, 0.0000,  1.0000,  0.0000, 1.0000,  0.0000, 1.0000,  0.8415, 0.5403,
               0.0998, 0.9950, 0.0100,  1.0000,  0.0010, 1.0000,  0.9093, -0.4161, 0.1987, 0.9801,
               0.0200, 0.9998, 0.0020,  1.0000,  0.1411, -0.9900, 0.2955, 0.9553,  0.0300, 0.9996,
               0.0030, 1.0000, -0.7568, -0.6536, 0.3894, 0.9211,  0.0400, 0.9992,  0.0040, 1.0000});
    run_everywhere("sinusoid_table", graph, false, {},
                   [&](Arrays& out, double) { check_close(out["table"], printed, 5.1e-5); });
}

TEST_CASE("the Jacobian of softmax: at scale 0.1 it is alive, at scale 10 it is nearly zero") {
    const std::vector<double> score = {-0.8, 0.3, 1.1, -0.2, 0.6};
    const Array identity = array_of({5, 5}, [](int i) { return i / 5 == i % 5; });
    Graph graph;
    Scope s{&graph};
    s.output("of_small", softmax(s.input("small", {5, 5})));
    s.output("of_large", softmax(s.input("large", {5, 5})));
    auto rows = [&](double scale) {
        return array_of({5, 5}, [&](int i) { return scale * score[std::size_t(i % 5)]; });
    };
    Arrays given = {{"small", rows(0.1)},
                    {"large", rows(10)},
                    {"of_small.grad", identity},
                    {"of_large.grad", identity}};
    run_everywhere("softmax_jacobian", graph, true, given, [&](Arrays& out, double tolerance) {
        for (bool large : {false, true}) {
            std::vector<double> p;
            double total = 0;
            for (double x : score) p.push_back(std::exp((large ? 10 : 0.1) * x));
            for (double x : p) total += x;
            for (double& x : p) x /= total;
            const Array& jacobian = out[large ? "large.grad" : "small.grad"];
            double largest = 0;
            for (int i = 0; i < 5; ++i)
                for (int k = 0; k < 5; ++k) {
                    std::size_t a = std::size_t(i), b = std::size_t(k);
                    double expected = (i == k ? p[a] : 0) - p[a] * p[b];
                    CHECK(std::fabs(at(jacobian, {i, k}) - expected) <= tolerance);
                    largest = std::max(largest, std::fabs(at(jacobian, {i, k})));
                }
            if (large) CHECK(largest < 0.01);
            else CHECK(largest > 0.15);
        }
    });
}

TEST_CASE("a mask from the outer product of lengths 2 and 4: rows that are masked whole") {
    Graph graph;
    Scope s{&graph};
    Tensor scores = s.input("scores", {2, 4, 4}), lens = s.input("lens", {2}, i32);
    Tensor inside = cast(iota(graph, {1, 4}, 1) < unsqueeze(lens, 1), f32);
    Tensor pairs = einsum("b q, b k -> b q k", inside, inside) > 0.0;
    s.output("uniform", masked_softmax(scores, allowed(pairs)));
    s.output("zero", masked_softmax(scores, allowed(pairs).with(MaskedRows::zero)));
    const Arrays given = {{"scores", scattered({2, 4, 4})}, {"lens", array({2}, {2, 4})}};
    run_everywhere("outer_product_mask", graph, false, given, [&](Arrays& out, double tolerance) {
        for (const char* name : {"uniform", "zero"})
            for (int b = 0; b < 2; ++b)
                for (int q = 0; q < 4; ++q) {
                    int length = b ? 4 : 2;
                    double total = 0;
                    for (int k = 0; k < 4; ++k) {
                        double weight = at(out[name], {b, q, k});
                        total += weight;
                        if (q < length && k >= length) CHECK(weight == 0);
                        if (q >= length) CHECK(weight == (name == std::string("zero") ? 0 : 0.25));
                    }
                    bool sees = q < length || name == std::string("uniform");
                    CHECK(std::fabs(total - sees) <= tolerance);
                }
    });
}
