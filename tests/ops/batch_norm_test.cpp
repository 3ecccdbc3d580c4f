// Batch normalisation over all axes but one.
#include "codegen/ops/batch_norm.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("values by the formula, gradients of x, weight and bias") {
    const Extents shapes[] = {{4, 3}, {2, 3, 5}, {3, 1}, {2, 2, 2, 3}};
    for (const Extents& shape : shapes)
        for (int axis = 0; axis < int(shape.size()); ++axis) {
            Extents own = {shape[std::size_t(axis)]};
            Graph graph;
            Tensor x = input(graph, "x", shape), weight = input(graph, "weight", own),
                   bias = input(graph, "bias", own);
            output("y", batch_norm(x, weight, bias, axis, 1e-2));
            Arrays arrays{{"x", random_array(shape, 14, -2, 3)},
                          {"weight", random_array(own, 15)},
                          {"bias", random_array(own, 16)}};
            INFO("rank ", shape.size(), ", axis ", axis);
            std::size_t inner = 1;
            for (std::size_t i = std::size_t(axis) + 1; i < shape.size(); ++i)
                inner *= std::size_t(shape[i]);
            Array expected = arrays["x"];
            for (std::size_t f = 0; f < std::size_t(own[0]); ++f) {
                std::vector<double*> of_feature;
                for (std::size_t i = 0; i < expected.values.size(); ++i)
                    if (i / inner % std::size_t(own[0]) == f)
                        of_feature.push_back(&expected.values[i]);
                double mean = 0, variance = 0, count = double(of_feature.size());
                for (double* value : of_feature) mean += *value / count;
                for (double* value : of_feature) variance += std::pow(*value - mean, 2) / count;
                for (double* value : of_feature)
                    *value =
                        (*value - mean) / std::sqrt(variance + 1e-2) * arrays["weight"].values[f] +
                        arrays["bias"].values[f];
            }
            check_close(run(graph, arrays), expected);
            check_gradients(graph, arrays);
        }
}

TEST_CASE("weights of another axis are refused") {
    Graph graph;
    Tensor x = input(graph, "x", {4, 3}), weight = input(graph, "weight", {4});
    CHECK_THROWS_WITH(batch_norm(x, weight, weight),
                      doctest::Contains("batch_norm: weight [4] and bias [4] are not axis 1 of "
                                        "f32 [4, 3]"));
}
