// Sinusoidal positions.
#include "codegen/ops/sinusoids.h"

#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

double position(double t, std::size_t column, double width) {
    double angle = t / std::pow(10000.0, 2.0 * double(column / 2) / width);
    return column % 2 ? std::cos(angle) : std::sin(angle);
}

}  // namespace

TEST_CASE("the table, for odd widths too, and far along") {
    for (std::int64_t width : {1, 2, 7, 64}) {
        Graph graph;
        output("y", sinusoids(graph, 50, width));
        Array y = run(graph, {}), expected{{50, width}, {}};
        for (std::size_t t = 0; t < 50; ++t)
            for (std::size_t c = 0; c < std::size_t(width); ++c)
                expected.values.push_back(position(double(t), c, double(width)));
        check_close(y, expected);
    }
}

TEST_CASE("rows for given positions") {
    Graph graph;
    output("y", sinusoids_at(input(graph, "t", {2, 1}, i32), 6));
    verify_graph(optimized(graph));
    Array expected{{2, 1, 6}, {}};
    for (double t : {1000.0, 3.0})
        for (std::size_t c = 0; c < 6; ++c) expected.values.push_back(position(t, c, 6));
    check_close(run(graph, {{"t", {{2, 1}, {1000, 3}}}}), expected);
    check_close(run(optimized(graph), {{"t", {{2, 1}, {1000, 3}}}}), expected);
}
