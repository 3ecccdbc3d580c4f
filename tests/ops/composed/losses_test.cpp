// Cross entropy of any leading axes: values as PyTorch's F.cross_entropy, gradients as slopes.
#include "codegen/ops/composed/losses.h"

#include <cmath>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const Array kLogits{{2, 2, 3}, {1, 2, 3, 0, 0, 0, -1, 5, 2, 4, 4, -4}};
const Array kLabels{{2, 2}, {2, 0, 1, 1}};

/// -ln of what softmax gives the label, mixed with the same of all classes.
double term(std::size_t row, std::size_t label, double smoothing) {
    double total = 0, all = 0;
    for (std::size_t k = 0; k < 3; ++k) total += std::exp(kLogits.values[row * 3 + k]);
    for (std::size_t k = 0; k < 3; ++k) all += (std::log(total) - kLogits.values[row * 3 + k]) / 3;
    const double own = std::log(total) - kLogits.values[row * 3 + label];
    return (1 - smoothing) * own + smoothing * all;
}

Array loss(const Array& labels, CrossEntropyOptions options) {
    Graph graph;
    Tensor logits = input(graph, "x", {2, 2, 3}), of_labels = input(graph, "labels", {2, 2}, i32);
    output("y", cross_entropy(logits, of_labels, options));
    const Arrays arrays{{"x", kLogits}, {"labels", labels}};
    check_gradients(graph, arrays, {}, 1e-6);
    return run(graph, arrays);
}

}  // namespace

TEST_CASE("the mean over all labels, and each term") {
    for (const double smoothing : {0.0, 0.3}) {
        CAPTURE(smoothing);
        const std::vector<double> terms = {term(0, 2, smoothing), term(1, 0, smoothing),
                                           term(2, 1, smoothing), term(3, 1, smoothing)};
        const double mean = (terms[0] + terms[1] + terms[2] + terms[3]) / 4;
        check_close(loss(kLabels, {.label_smoothing = smoothing}), {{}, {mean}});
        check_close(loss(kLabels, {.label_smoothing = smoothing, .mean = false}), {{2, 2}, terms});
    }
}

TEST_CASE("a label that is ignored has no loss, and does not count") {
    const Array labels{{2, 2}, {2, -100, 1, -100}};
    const double first = term(0, 2, 0), third = term(2, 1, 0);
    check_close(loss(labels, {.ignored = -100}), {{}, {(first + third) / 2}});
    check_close(loss(labels, {.ignored = -100, .mean = false}), {{2, 2}, {first, 0, third, 0}});
    check_close(loss(kLabels, {.ignored = 1, .mean = false}),
                {{2, 2}, {first, term(1, 0, 0), 0, 0}});
}

TEST_CASE("logits without leading axes have one label") {
    Graph graph;
    output("y", cross_entropy(input(graph, "x", {3}), input(graph, "label", {}, i32)));
    const Arrays arrays{{"x", {{3}, {1, 2, 3}}}, {"label", {{}, {2}}}};
    check_close(run(graph, arrays), {{}, {term(0, 2, 0)}});
}
