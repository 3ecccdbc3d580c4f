// A value of the graph, as models, gradient rules and composites' bodies handle it.
#pragma once

#include <type_traits>

#include "codegen/graph/graph.h"

namespace fovea {

/// A value: a node of a graph. Cheap to copy; empty when default-made.
struct Tensor {
    Graph* graph = nullptr;
    int id = 0;

    constexpr const Node& node() const { return graph->nodes.first[id]; }
    constexpr const Shape& shape() const { return graph->nodes.first[id].shape; }
    constexpr int rank() const { return graph->nodes.first[id].shape.rank(); }
    /// The size of axis `i`; negative ones count from the end.
    constexpr Dim dim(int i, Location location = Location::here()) const {
        if (id == 0) return Dim(1);
        const Shape& own = shape();
        const int axes = own.rank();
        if (i >= -axes && i < axes) return own[i];
        Text text;
        text << "dim " << i << " of " << shape() << ": there is no such axis";
        graph->fail(location, graph->scope_of(id), text);
        return Dim(1);
    }
    constexpr DType dtype() const { return graph->nodes.first[id].dtype; }
    /// Whether an op before found an error.
    constexpr bool is_poison() const { return id == 0; }
    /// Whether it is a value at all, of an operand that may be left out say.
    constexpr bool exists() const { return graph != nullptr; }
    /// A model is built before its numbers are there: C++ cannot branch on them.
    template <class Truth>
        requires std::is_same_v<Truth, bool>
    constexpr explicit operator Truth() const {
        static_assert(
            !std::is_same_v<Truth, bool>,
            "a tensor is no condition of C++ (if, ?:, while): its numbers are not there while the "
            "graph is built; where(condition, x, y) chooses elements, and x.exists() says whether "
            "an operand was given");
        return exists();
    }
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
    Dim dim = kNoDim;
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

    constexpr bool is_tensor() const { return kind == Kind::tensor; }
};

namespace detail {

/// Operands of an op that is written at `location`, for ops that are made of others.
struct At {
    Location location;

    constexpr Operand operator()(auto value) const {
        return Operand(value, location.file, location.line, location.function);
    }
};

}  // namespace detail

constexpr Tensor fail(Graph& graph, Location location, int scope, const Text& text) {
    return {&graph, graph.fail(location, scope, text)};
}

namespace detail {

constexpr int scope_of_inputs(const Graph& graph, const Node& node) {
    if (node.scope > 0) return node.scope;
    return node.inputs[0] > 0 ? graph.scope_of(node.inputs[0]) : 0;
}
/// Refuses a node for the sizes that it has.
constexpr Tensor wrong_size(Graph& graph, const Node& node) {
    Text text;
    text << row_of(node.op).name << ": ";
    if (node.shape.is_wrong()) node.shape.write_mistake(text);
    else node.dim.write_mistake(text);
    return fail(graph, node.location, scope_of_inputs(graph, node), text);
}

}  // namespace detail

/// Adds a node, or passes on poison when an input is poison.
constexpr Tensor make(Graph& graph, const Node& node) {
    if (has_poison(node.inputs)) return {&graph, 0};
    if (node.shape.is_wrong() || node.dim.mistake() != DimMistake::none)
        return detail::wrong_size(graph, node);
    return {&graph, graph.add(node)};
}

/// Never called: its name is what the compiler prints.
inline void a_tensor_is_empty() {}

namespace detail {

/// An op of tensors none of which is of a graph.
[[noreturn]] inline void refuse_empty(const char* op, Location location) {
    throw UserError(std::string(location.file_name()) + ":" + std::to_string(location.line) + ": " +
                    std::string(op) +
                    " takes a Tensor that an op has made; numbers and sizes alone are none, and an "
                    "empty Tensor is of no model");
}
template <std::size_t Count>
constexpr Graph& graph_of(const char* op, Location location, const Tensor (&operands)[Count]) {
    for (const Tensor& operand : operands)
        if (operand.graph) return *operand.graph;
    if (std::is_constant_evaluated()) a_tensor_is_empty();
    refuse_empty(op, location);
}

/// Whether an op of `graph` can read it.
constexpr bool is_open(const Tensor& x, const Graph* graph) {
    return x.graph == graph && graph && x.id &&
           (!graph->nodes.first[x.id].region || !graph->is_closed(graph->nodes.first[x.id].region));
}

/// Says why operands are not usable: the first empty one, of another graph or of a closed region.
/// False.
template <std::size_t Count>
constexpr bool refuse_unusable(const char* op, Location location, const Tensor (&operands)[Count]) {
    Graph& graph = graph_of(op, location, operands);
    for (const Tensor& operand : operands)
        if (operand.graph && operand.is_poison()) return false;
    for (const Tensor& operand : operands) {
        std::string_view why;
        if (!operand.graph) why = " of a Tensor that is empty: no op has made it";
        else if (operand.graph != &graph) why = " of tensors of two graphs";
        else if (graph.is_closed(operand.node().region))
            why = " of a value of one pair or step, outside its score or loop";
        if (why.empty()) continue;
        Text text;
        text << op << why;
        graph.fail(location, 0, text);
        break;
    }
    return false;
}

}  // namespace detail

/// Whether an op can take its operands: none is poison or empty, all are of one graph, and each can
/// be read here: a value of a score or of a loop's step is gone behind it. `op` is a literal: a
/// view of it would take the compiler a step for each character.
template <std::size_t Count>
constexpr bool is_usable(const char* op, Location location, const Tensor (&operands)[Count]) {
    const Graph* graph = operands[0].graph;
    std::size_t usable = 0;
    while (usable < Count && detail::is_open(operands[usable], graph)) ++usable;
    return usable == Count || detail::refuse_unusable(op, location, operands);
}
/// What an op gives whose operands are not usable.
template <std::size_t Count>
constexpr Tensor poison_of(const Tensor (&operands)[Count]) {
    for (const Tensor& operand : operands)
        if (operand.graph) return {operand.graph, 0};
    return {};
}

}  // namespace fovea
