// A value of the graph, as models, gradient rules and composites' bodies handle it.
#pragma once

#include <type_traits>

#include "codegen/graph/graph.h"

namespace fovea {

/// A value: a node of a graph. Cheap to copy; empty when default-made.
struct Tensor {
    Graph* graph = nullptr;
    int id = 0;

    constexpr const Node& node() const { return (*graph)[id]; }
    constexpr const Shape& shape() const { return node().shape; }
    constexpr int rank() const { return shape().rank(); }
    /// The size of axis `i`; negative ones count from the end.
    constexpr Dim dim(int i) const { return is_poison() ? Dim(1) : shape()[i]; }
    constexpr DType dtype() const { return node().dtype; }
    /// Whether an op before found an error.
    constexpr bool is_poison() const { return id == 0; }
    constexpr explicit operator bool() const { return graph != nullptr; }
};

/// The square root of a size, as an operand: `x * sqrt(hidden)`.
struct SquareRoot {
    Dim dim;
};
constexpr SquareRoot sqrt(Dim dim) { return {dim}; }

/// An operand of an operator: a tensor, a number, a size or its root, and the place it was written.
struct Operand {
    enum class Kind { tensor, number, size, root } kind = Kind::tensor;
    Tensor tensor;
    double number = 0;
    Dim dim;
    Location location;

    constexpr Operand(Tensor value, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE(), const char* function = __builtin_FUNCTION())
        : tensor(value), location{file, line, function} {}
    constexpr Operand(SquareRoot root, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE(), const char* function = __builtin_FUNCTION())
        : kind(Kind::root), dim(root.dim), location{file, line, function} {}
    constexpr Operand(const Dim& size, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE(), const char* function = __builtin_FUNCTION())
        : kind(Kind::size), dim(size), location{file, line, function} {}
    template <class Number>
        requires std::is_arithmetic_v<Number>
    constexpr Operand(Number value, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE(), const char* function = __builtin_FUNCTION())
        : kind(Kind::number), number(double(value)), location{file, line, function} {}

    constexpr Graph* graph() const { return kind == Kind::tensor ? tensor.graph : nullptr; }
};

/// Adds a node, or passes on poison when an input is poison.
constexpr Tensor make(Graph& graph, const Node& node) {
    for (int input : node.inputs)
        if (input == 0) return {&graph, 0};
    return {&graph, graph.add(node)};
}
constexpr Tensor fail(Graph& graph, Location location, int scope, const Text& text) {
    return {&graph, graph.fail(location, scope, text)};
}

}  // namespace fovea
