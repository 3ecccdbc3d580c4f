// What is refused when a model is whole: that it has no output, sizes that nobody knows who runs
// it, and gradients that are read where they have no value.
#pragma once

#include <type_traits>

#include "codegen/graph/graph.h"

namespace fovea {

namespace detail {

/// What the sizes of a node are, by op: those of its operands; known, since whoever runs the model
/// has the tensor; its own; or those of operands, one of which may be a gradient.
enum class Sizes : unsigned char { of_operands, known, own, of_gradient };
inline constexpr auto kSizes = [] {
    FixedArray<Sizes, std::size(kOps)> sizes{};
    for (Op op : {Op::input, Op::output, Op::parameter}) sizes[std::size_t(op)] = Sizes::known;
    for (Op op : {Op::extent, Op::iota, Op::broadcast, Op::slice, Op::sinusoids, Op::pad,
                  Op::scatter_add, Op::constant})
        sizes[std::size_t(op)] = Sizes::own;
    sizes[std::size_t(Op::stop_gradient)] = Sizes::of_gradient;
    return sizes;
}();

/// The symbols that inputs, outputs and parameters have.
struct KnownSizes {
    List<Symbol> known;

    constexpr bool has(const Symbol& symbol) const {
        for (const Symbol& other : known)
            if (other == symbol) return true;
        return false;
    }
    constexpr void add(const Dim& dim) {
        dim.each_symbol([&](const Symbol& symbol) {
            if (!has(symbol)) known.push_back(symbol);
        });
    }
    constexpr bool knows(const Dim& dim) const {
        bool all = true;
        dim.each_symbol([&](const Symbol& symbol) { all = all && has(symbol); });
        return all;
    }
    /// A size of the node's own that is not known; null: none.
    constexpr const Dim* unknown_of(const Node& node) const {
        if (!node.dim.is_static() && !knows(node.dim)) return &node.dim;
        const bool is_slice = node.op == Op::slice;
        const Dim* dim = node.shape.begin() + (is_slice ? node.axis : 0);
        const Dim* const end = is_slice ? dim + 1 : node.shape.end();
        for (; dim != end; ++dim)
            if (!dim->is_static() && !knows(*dim)) return dim;
        return nullptr;
    }
};

/// Which nodes are made of the gradient that the function of a custom_gradient is given, and until
/// which node that function goes.
struct GivenGradients {
    List<int> last;  // by the node that stands for the gradient: the function's value
    List<int> made_of;  // by node: the gradient that it is made of; 0: none

    constexpr explicit GivenGradients(const Graph& graph) {
        for (int id = 0; id < int(graph.nodes.size()); ++id) {
            last.push_back(0);
            made_of.push_back(0);
            if (has_own_gradient(graph[id])) last[std::size_t(graph[id].inputs[1])] = id;
        }
    }
    /// The gradient among what a node reads; the value of a function is made of it no more.
    constexpr int gradient_in(const Node& node) const {
        for (std::size_t i = 0; i < kMaxInputs; ++i) {
            const int input = node.inputs[i];
            if (input <= 0 || (has_own_gradient(node) && (i == 1 || i == 3))) continue;
            if (const int gradient = made_of[std::size_t(input)]) return gradient;
        }
        return 0;
    }
};

}  // namespace detail

/// Refuses the first node that reads what a custom_gradient's function made of the gradient, and is
/// not of that function.
constexpr void refuse_gradients_outside(Graph& graph) {
    detail::GivenGradients given(graph);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const Node& node = graph[id];
        const int gradient = given.gradient_in(node);
        if (gradient && (node.op == Op::output || id > given.last[std::size_t(gradient)])) {
            Text text;
            text << (node.op == Op::elementwise ? row_of(node.function).name : row_of(node.op).name)
                 << " of a value that the function of a custom_gradient made of the gradient it is "
                    "given: only what the function returns can be, since there is no gradient when "
                    "the model runs";
            graph.fail(node.location, node.scope, text);
            return;
        }
        given.made_of[std::size_t(id)] = given.last[std::size_t(id)] ? id : gradient;
    }
}

/// Refuses the first node that computes with a size which no input, output or parameter has.
constexpr void refuse_unknown_sizes(Graph& graph) {
    detail::KnownSizes sizes;
    List<const Node*> suspects;
    bool has_gradient = false;
    const Node* const end = graph.nodes.end();
    for (const Node* node = graph.nodes.first;; ++node) {
        // Most nodes have the sizes of their operands: one statement a node, which clang counts.
        while (node != end && detail::kSizes.values[int(node->op)] == detail::Sizes::of_operands)
            ++node;
        if (node == end) break;
        if (detail::kSizes.values[int(node->op)] == detail::Sizes::known)
            for (const Dim& dim : node->shape) {
                if (!dim.is_static()) sizes.add(dim);
            }
        else if (detail::kSizes.values[int(node->op)] == detail::Sizes::of_gradient)
            has_gradient = has_gradient || has_own_gradient(*node);
        else if ((node->op != Op::constant || node->shape.rank() > 0) && sizes.unknown_of(*node))
            suspects.push_back(node);
    }
    if (has_gradient) refuse_gradients_outside(graph);
    for (const Node* node : suspects) {
        const Dim* of = sizes.unknown_of(*node);
        if (!of) continue;
        Symbol unknown;
        of->each_symbol([&](const Symbol& symbol) {
            if (!sizes.has(symbol)) unknown = symbol;
        });
        Text text;
        text << "the size " << unknown
             << " is one of no input, output or parameter: nobody can know "
             << "it when the model runs";
        graph.fail(node->location, node->scope, text);
        return;
    }
}

/// Refuses a model that gives nothing. Outputs are made last.
constexpr void refuse_no_output(Graph& graph) {
    const Node* const last = graph.nodes.end() - 1;
    for (const Node* node = last; node >= graph.nodes.begin(); --node)
        if (node->op == Op::output) return;
    Text text;
    text << "the model has no output: name what it gives with s.output(\"y\", y)";
    graph.fail(last->location, 0, text);
}

/// Called when a model is whole.
constexpr void verify_whole(Graph& graph) {
    if (!graph.errors.empty()) return;
    // What a compiler has refused of a model is not in it, its output neither.
    if (!std::is_constant_evaluated()) refuse_no_output(graph);
    refuse_unknown_sizes(graph);
}

}  // namespace fovea
