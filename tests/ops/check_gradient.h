// Small graphs in tests: running them, and checking their gradients against finite differences.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/graph/expand_composites.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/graph/verify_graph.h"
#include "codegen/ops/elementwise.h"
#include "codegen/optimize/common_subexpressions.h"
#include "codegen/optimize/dead_code.h"
#include "codegen/optimize/fold.h"
#include "codegen/optimize/normalize_reductions.h"
#include "codegen/reference/interpreter.h"

namespace fovea::test {

/// How many nodes of an op a graph has.
inline int count(const Graph& graph, Op op) {
    int found = 0;
    for (const Node& node : graph.nodes) found += node.op == op;
    return found;
}

using Arrays = std::map<std::string, Array>;
using Extents = std::vector<std::int64_t>;

inline Array random_array(const Extents& shape, unsigned seed, double low = -1, double high = 1) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> numbers(low, high);
    Array array{shape, {}};
    array.values.resize(std::size_t(array.size()));
    for (double& value : array.values) value = numbers(engine);
    return array;
}

inline Array filled(const Extents& shape, double value) {
    Array array{shape, {}};
    array.values.assign(std::size_t(array.size()), value);
    return array;
}

/// An input of static shape.
inline Tensor input(Graph& graph, const char* name, const Extents& extents, DType type = f32) {
    Shape shape;
    for (std::int64_t extent : extents) shape.push(extent);
    return make(graph, {.op = Op::input, .dtype = type, .shape = shape, .name = name});
}

inline void output(const char* name, Tensor value) {
    make(*value.graph, {.op = Op::output,
                        .dtype = value.dtype(),
                        .shape = value.shape(),
                        .inputs = inputs_of({value.id}),
                        .name = name});
}

inline void give(Interpreter& interpreter, const Arrays& arrays) {
    for (const auto& [name, array] : arrays)
        if (interpreter.has(name)) interpreter.set(name, array);
}

inline Array run(const Graph& graph, const Arrays& arrays, std::string_view name = "y",
                 InterpreterOptions options = {}) {
    Interpreter interpreter(graph, options);
    give(interpreter, arrays);
    return interpreter.output(name);
}

/// The largest difference, relative to the larger of 1 and the expected values.
inline double difference(const Array& a, const Array& expected) {
    REQUIRE(a.shape == expected.shape);
    double largest = 1, worst = 0;
    for (double value : expected.values) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < a.values.size(); ++i) {
        double off = std::fabs(a.values[i] - expected.values[i]);
        if (!(off <= worst)) worst = off;  // also when it is not a number
    }
    return worst / largest;
}

inline void check_close(const Array& a, const Array& expected, double tolerance = 1e-12) {
    CHECK(difference(a, expected) <= tolerance);
}

/// Σ cotangent · y, by central differences in every element of `name`.
inline Array numeric_gradient(const Graph& graph, Arrays arrays, const std::string& name,
                              const Array& cotangent, InterpreterOptions options) {
    constexpr double kStep = 1e-5;
    Array gradient = arrays.at(name);
    Interpreter interpreter(graph, options);
    give(interpreter, arrays);
    auto total_at = [&](std::size_t i, double value) {
        Array moved = arrays.at(name);
        moved.values[i] = value;
        interpreter.set(name, moved);
        const Array& y = interpreter.output("y");
        double total = 0;
        for (std::size_t k = 0; k < y.values.size(); ++k)
            total += y.values[k] * cotangent.values[k];
        return total;
    };
    for (std::size_t i = 0; i < gradient.values.size(); ++i) {
        double at = arrays.at(name).values[i];
        gradient.values[i] = (total_at(i, at + kStep) - total_at(i, at - kStep)) / (2 * kStep);
    }
    return gradient;
}

/// After each pass the graph is verified.
inline Graph optimized(Graph graph) {
    for (auto pass : {+[](const Graph& g) { return expand_composites(g); }, normalize_reductions,
                      fold, common_subexpressions, dead_code}) {
        graph = pass(graph);
        verify_graph(graph);
    }
    return graph;
}

/// Checks the gradients of output y by all float inputs and parameters against finite differences:
/// by the composites' own rules and by their bodies, plain and optimized; and that optimizing
/// leaves y as it is.
inline void check_gradients(const Graph& graph, const Arrays& arrays,
                            InterpreterOptions options = {}, double tolerance = 1e-7) {
    verify_graph(graph);
    Array y = run(graph, arrays, "y", options);
    Arrays all = arrays;
    all["y.grad"] = random_array(y.shape, 99);
    for (bool bodies_first : {false, true}) {
        Graph source = bodies_first ? expand_composites(graph) : graph;
        verify_graph(source);
        Graph plain = add_gradients(source, {.from_loss = false, .of_inputs = true});
        verify_graph(plain);
        for (const Graph& with : {plain, optimized(plain)}) {
            Interpreter interpreter(with, options);
            give(interpreter, all);
            check_close(interpreter.output("y"), y);
            for (const Node& node : graph.nodes) {
                bool leaf = node.op == Op::input || node.op == Op::parameter;
                if (!leaf || !is_float(node.dtype)) continue;
                std::string name =
                    node.op == Op::input ? std::string(node.name) : graph.path(node.scope);
                INFO("gradient of ", name, std::string(bodies_first ? " by bodies" : " by rules"));
                Array expected = numeric_gradient(graph, arrays, name, all["y.grad"], options);
                CHECK(difference(interpreter.output(name + ".grad"), expected) <= tolerance);
            }
        }
    }
}

/// 0, 1, 2, …
inline Array counting(const Extents& shape) {
    Array array{shape, {}};
    for (std::int64_t i = 0; i < array.size(); ++i) array.values.push_back(double(i));
    return array;
}

/// f(x) and the gradient of x for the cotangent 1, 2, 3, … are these.
template <class F>
void check_known(const Array& x, const Array& y, const Array& gradient, F&& f) {
    Graph graph;
    output("y", f(input(graph, "x", x.shape)));
    graph = seal_scans(graph);
    check_close(run(graph, {{"x", x}}), y);
    Graph with = add_gradients(graph, {.from_loss = false, .of_inputs = true});
    Array cotangent = y;
    for (std::size_t i = 0; i < y.values.size(); ++i) cotangent.values[i] = double(i + 1);
    const Arrays arrays{{"x", x}, {"y.grad", cotangent}};
    check_close(run(with, arrays, "x.grad"), gradient);
    check_close(run(optimized(with), arrays, "x.grad"), gradient);
}

/// f of what counts has these values, and gradients that are slopes.
template <class F>
void check_counting(const Extents& shape, const Array& expected, F&& f) {
    Graph graph;
    Tensor x = input(graph, "x", shape);
    output("y", f(x));
    check_close(run(graph, {{"x", counting(shape)}}), expected);
    check_gradients(graph, {{"x", random_array(shape, 4)}});
}

}  // namespace fovea::test
