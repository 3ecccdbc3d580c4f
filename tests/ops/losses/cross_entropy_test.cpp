// Cross entropy over padded sequences.
#include "codegen/ops/losses/cross_entropy.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("values by the formula, lengths from 0 to all steps") {
    const std::int64_t batches = 4, steps = 3, classes = 5;
    Graph graph;
    Tensor logits = input(graph, "logits", {batches, steps, classes});
    output("y", cross_entropy(logits, input(graph, "labels", {batches, steps}, i32),
                              input(graph, "lens", {batches}, i32)));
    Arrays arrays{{"logits", random_array({batches, steps, classes}, 17, -4, 4)},
                  {"labels", {{batches, steps}, {0, 1, 2, 3, 4, 0, 4, 4, 4, 2, 2, 1}}},
                  {"lens", {{batches}, {0, 1, 2, 3}}}};
    Array expected{{batches}, {}};
    for (std::size_t b = 0; b < std::size_t(batches); ++b) {
        double loss = 0;
        for (std::size_t t = 0; t < std::size_t(arrays["lens"].values[b]); ++t) {
            std::size_t row = (b * std::size_t(steps) + t) * std::size_t(classes);
            const double* x = &arrays["logits"].values[row];
            double total = 0;
            for (std::size_t i = 0; i < std::size_t(classes); ++i) total += std::exp(x[i]);
            loss += std::log(total) -
                    x[std::size_t(arrays["labels"].values[b * std::size_t(steps) + t])];
        }
        expected.values.push_back(loss / double(steps));
    }
    check_close(run(graph, arrays), expected);
    check_gradients(graph, arrays);
}

TEST_CASE("forward and backward share the row's maximum and sum") {
    Graph graph;
    Tensor logits = input(graph, "logits", {2, 3, 5});
    output("loss", cross_entropy(logits, input(graph, "labels", {2, 3}, i32),
                                 input(graph, "lens", {2}, i32)));
    Graph with = optimized(add_gradients(graph, {.of_inputs = true}));
    int maxima = 0, exponentials = 0;
    for (const Node& node : with.nodes) {
        maxima += node.op == Op::reduce && node.reduction == Reduction::max;
        exponentials += node.op == Op::elementwise && node.function == Elementwise::exp;
    }
    CHECK(maxima == 1);
    CHECK(exponentials == 1);
}

TEST_CASE("smoothed labels: the rest is spread over the other classes, padding costs nothing") {
    const std::int64_t batches = 2, steps = 3, classes = 5;
    for (double smoothing : {0.0, 0.1, 0.4})
        for (int padding : {1, 4}) {
            Graph graph;
            Tensor logits = input(graph, "logits", {batches, steps, classes});
            Tensor labels = input(graph, "labels", {batches, steps}, i32);
            output("y", smoothed_cross_entropy(logits, labels, padding, smoothing));
            Arrays arrays{{"logits", random_array({batches, steps, classes}, 18, -4, 4)},
                          {"labels", {{batches, steps}, {0, 1, 4, 4, 1, 1}}}};
            Array expected{{batches}, {}};
            for (std::size_t b = 0; b < std::size_t(batches); ++b) {
                double loss = 0;
                for (std::size_t t = 0; t < std::size_t(steps); ++t) {
                    std::size_t row = b * std::size_t(steps) + t;
                    int label = int(arrays["labels"].values[row]);
                    if (label == padding) continue;
                    const double* x = &arrays["logits"].values[row * std::size_t(classes)];
                    double total = 0;
                    for (int i = 0; i < classes; ++i) total += std::exp(x[i]);
                    for (int i = 0; i < classes; ++i) {
                        double target = i == label ? 1 - smoothing : smoothing / (classes - 1);
                        loss += target * (std::log(total) - x[i]);
                    }
                }
                expected.values.push_back(loss);
            }
            INFO("smoothing ", smoothing, ", padding ", padding);
            check_close(run(graph, arrays), expected);
            check_gradients(graph, arrays);
        }
}

TEST_CASE("smoothing outside [0, 1) is refused") {
    Graph graph;
    Tensor logits = input(graph, "logits", {2, 3, 5}), labels = input(graph, "labels", {2, 3}, i32);
    CHECK_THROWS_WITH(smoothed_cross_entropy(logits, labels, 0, 1.5),
                      doctest::Contains("label smoothing must be in [0, 1)"));
    CHECK_FALSE(cross_entropy(logits, labels, {.label_smoothing = 1}).is_poison());
}
