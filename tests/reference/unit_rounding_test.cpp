// What products with weights of whole numbers may lose of their activations.
#include "codegen/reference/unit_rounding.h"

#include <fovea.h>

#include "codegen/reference/error_bounds.h"
#include "tests/ops/check_gradient.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr int kRows = 2, kSteps = 40;

/// x [2, 40] times a weight [3, 40] of groups of 16, or its transpose [40, 2] times that.
struct Product {
    Graph graph;
    int x = 0, weight = 0, y = 0;

    explicit Product(bool is_along, bool swapped = false) {
        const Scope s{&graph};
        const Tensor values = s.input("x", is_along ? Shape{kRows, kSteps} : Shape{kSteps, kRows});
        const Tensor numbers = s.parameter("w", {3, kSteps}, Initial::ones);
        Tensor result;
        if (swapped) result = einsum("n k, i k -> i n", numbers, values);
        else if (is_along) result = einsum("i k, n k -> i n", values, numbers);
        else result = einsum("k i, n k -> i n", values, numbers);
        x = values.id, weight = numbers.id, y = result.id;
        graph.nodes.first[weight].axis = 8;
        graph.nodes.first[weight].stride = 16;
    }
};

/// 1 at each step, but for a large value in the second group of row 1.
Array values(bool is_along) {
    Array x{is_along ? std::vector<std::int64_t>{kRows, kSteps}
                     : std::vector<std::int64_t>{kSteps, kRows},
            std::vector<double>(kRows * kSteps, 1)};
    x.values[std::size_t(is_along ? kSteps + 20 : 20 * kRows + 1)] = -1024;
    return x;
}

Array lost(const Product& product, int number, bool is_along, bool in_halves) {
    const Array x = values(is_along);
    Array bound{x.shape, std::vector<double>(x.values.size(), 0)};
    add_unit_rounding(product.graph, product.graph[product.y], number, x, in_halves, bound);
    return bound;
}

}  // namespace

TEST_CASE("a value loses a part of the largest one in its group") {
    for (const bool is_along : {true, false}) {
        const Product product(is_along);
        for (const bool in_halves : {false, true}) {
            const double unit = in_halves ? kLostOfHalves : kLostOfFloats;
            const Array bound = lost(product, 0, is_along, in_halves);
            for (int row = 0; row < kRows; ++row)
                for (int step = 0; step < kSteps; ++step) {
                    const bool is_beside = row == 1 && step >= 16 && step < 32;
                    const int at = is_along ? row * kSteps + step : step * kRows + row;
                    CHECK(bound.values[std::size_t(at)] == (is_beside ? 1024 : 1) * unit);
                }
        }
    }
}

TEST_CASE("the weight itself loses nothing, nor do products of floats") {
    Product product(true);
    for (const double value : lost(product, 1, true, true).values) CHECK(value == 0);
    const Product swapped(true, true);
    for (const double value : lost(swapped, 0, true, true).values) CHECK(value == 0);
    CHECK(lost(swapped, 1, true, true).values[0] == kLostOfHalves);
    product.graph.nodes.first[product.weight].axis = 0;
    for (const double value : lost(product, 0, true, true).values) CHECK(value == 0);
}

TEST_CASE("the bound of a product has what its activations lose") {
    Product of_numbers(true);
    output("y", Tensor{&of_numbers.graph, of_numbers.y});
    const auto bound = [&] {
        Interpreter interpreter(of_numbers.graph);
        interpreter.set("x", values(true));
        interpreter.set("w", {{3, kSteps}, std::vector<double>(3 * kSteps, 1)});
        return ErrorBounds(interpreter).of_output("y").values[3];
    };
    const double with = bound();
    of_numbers.graph.nodes.first[of_numbers.weight].axis = 0;
    const double of_floats = bound();
    CHECK(with - of_floats >= 16 * 1024 * kLostOfFloats);
    CHECK(with - of_floats < 17 * 1024 * kLostOfFloats);
}
