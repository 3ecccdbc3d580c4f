// Statistics of rows: PyTorch's values and gradients, with ties, zeros and infinite values.
#include "codegen/ops/composed/statistics.h"

#include <limits>

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
const Array kRows{{3, 4}, {1, 3, 3, -2, 0, 0, 0, 0, 5, -1, 2, 2}};

}  // namespace

// The numbers are those of torch 2.13, in float64.
TEST_CASE("amin shares its gradient among ties") {
    check_known(kRows, {{3}, {-2, 0, -1}}, {{3, 4}, {0, 0, 0, 1, 0.5, 0.5, 0.5, 0.5, 0, 3, 0, 0}},
                [](Tensor x) { return amin(x, 1); });
}

TEST_CASE("logsumexp and log_softmax") {
    check_known(
        kRows, {{3}, {3.76177415922627, 1.38629436111989, 5.09717470314748}},
        {{3, 4},
         {0.0631795782358577, 0.46683744789153, 0.46683744789153, 0.00314552598108145, 0.5, 0.5,
          0.5, 0.5, 2.72219240127456, 0.00674764033996394, 0.135529979192736, 0.135529979192736}},
        [](Tensor x) { return logsumexp(x, 1); });
    check_known(
        kRows,
        {{3, 4},
         {-2.76177415922627, -0.761774159226275, -0.761774159226275, -5.76177415922627,
          -1.38629436111989, -1.38629436111989, -1.38629436111989, -1.38629436111989,
          -0.0971747031474838, -6.09717470314748, -3.09717470314748, -3.09717470314748}},
        {{3, 4},
         {0.368204217641423, -2.6683744789153, -1.6683744789153, 3.96854474018919, -1.5, -0.5, 0.5,
          1.5, -29.1106936178439, 9.9055330352405, 9.10258029130169, 10.1025802913017}},
        [](Tensor x) { return log_softmax(x, 1); });
}

TEST_CASE("logsumexp of large and infinite values") {
    Graph graph;
    output("y", logsumexp(input(graph, "x", {4, 2}), -1));
    const Array x{{4, 2}, {-kInfinite, -kInfinite, kInfinite, 1, 1e30, 1e30, -1e30, -1e30}};
    const Array y = run(graph, {{"x", x}});
    CHECK(y.values[0] == -kInfinite);
    CHECK(y.values[1] == kInfinite);
    CHECK(y.values[2] == doctest::Approx(1e30));
    CHECK(y.values[3] == doctest::Approx(-1e30));
}

TEST_CASE("log_softmax of large values keeps their differences, and is NaN of an infinite one") {
    Graph graph;
    output("y", log_softmax(input(graph, "x", {5, 2}), -1));
    const Array x{{5, 2}, {1e30, 1e30, kInfinite, 1, -kInfinite, -kInfinite, -kInfinite, 1, 0, 1}};
    const Array y = run(graph, {{"x", x}});
    CHECK(y.values[0] == doctest::Approx(-0.693147180559945));
    CHECK(y.values[1] == doctest::Approx(-0.693147180559945));
    for (std::size_t i = 2; i < 6; ++i) CHECK(std::isnan(y.values[i]));
    CHECK(y.values[6] == -kInfinite);
    CHECK(y.values[7] == 0);
    CHECK(y.values[8] == doctest::Approx(-1.31326168751822));
    CHECK(y.values[9] == doctest::Approx(-0.313261687518223));
}

TEST_CASE("variances of samples and of wholes") {
    check_known(kRows, {{3}, {5.58333333333333, 0, 6}},
                {{3, 4},
                 {-0.166666666666667, 1.16666666666667, 1.16666666666667, -2.16666666666667, 0, 0,
                  0, 0, 6, -6, 0, 0}},
                [](Tensor x) { return variance(x, 1); });
    check_known(kRows, {{3}, {4.1875, 0, 4.5}},
                {{3, 4}, {-0.125, 0.875, 0.875, -1.625, 0, 0, 0, 0, 4.5, -4.5, 0, 0}},
                [](Tensor x) { return variance(x, -1, 0); });
    Graph graph;
    output("y", variance(input(graph, "x", {2, 1}), 1));
    CHECK(std::isnan(run(graph, {{"x", filled({2, 1}, 3)}}).values[0]));  // no sample of one
}

TEST_CASE("argmax and argmin are the first of several, and NaN's") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 4});
    output("most", argmax(x, 1));
    output("least", argmin(x, -1, true));
    output("of_columns", argmax(x, 0));
    CHECK(argmax(x, 1).dtype() == i32);
    check_close(run(graph, {{"x", kRows}}, "most"), {{3}, {1, 0, 0}});
    check_close(run(graph, {{"x", kRows}}, "least"), {{3, 1}, {3, 0, 1}});
    check_close(run(graph, {{"x", kRows}}, "of_columns"), {{4}, {2, 0, 0, 2}});
    Array none = kRows;
    none.values[6] = std::nan("");
    none.values[11] = -kInfinite;
    check_close(run(graph, {{"x", none}}, "most"), {{3}, {1, 2, 0}});
    check_close(run(graph, {{"x", none}}, "least"), {{3, 1}, {3, 2, 3}});
    check_close(run(graph, {{"x", filled({3, 4}, -kInfinite)}}, "most"), filled({3}, 0));
}

TEST_CASE("any and all, of nothing too") {
    Graph graph;
    Tensor x = input(graph, "x", {3, 2});
    Tensor positive = x > 0.0;
    output("any", any(positive, 1));
    output("all", all(positive, 1, true));
    const Arrays arrays{{"x", {{3, 2}, {1, 0, 0, 0, 1, 1}}}};
    check_close(run(graph, arrays, "any"), {{3}, {1, 0, 1}});
    check_close(run(graph, arrays, "all"), {{3, 1}, {0, 0, 1}});
    Graph empty;
    Tensor none = input(empty, "x", {2, 0}) > 0.0;
    output("any", any(none, 1));
    output("all", all(none, 1));
    check_close(run(empty, {{"x", filled({2, 0}, 0)}}, "any"), filled({2}, 0));
    check_close(run(empty, {{"x", filled({2, 0}, 0)}}, "all"), filled({2}, 1));
}

TEST_CASE("slopes along every axis") {
    for (int axis = -3; axis < 3; ++axis)
        for (auto f : {+[](Tensor x, int i) { return amin(x, i, true); },
                       +[](Tensor x, int i) { return logsumexp(x, i); },
                       +[](Tensor x, int i) { return log_softmax(x, i); },
                       +[](Tensor x, int i) { return variance(x, i); }}) {
            Graph graph;
            output("y", f(input(graph, "x", {2, 3, 4}), axis));
            check_gradients(graph, {{"x", random_array({2, 3, 4}, 8)}});
        }
}
