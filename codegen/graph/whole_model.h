// What is refused when a model is whole: that it has no output, and sizes that nobody knows who
// runs it.
#pragma once

#include <type_traits>
#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

namespace detail {

/// Whether a node may have sizes that its inputs do not have.
constexpr bool brings_sizes(const Node& node) {
    return node.op == Op::extent || node.op == Op::iota || node.op == Op::broadcast ||
           node.op == Op::slice || node.op == Op::sinusoids || node.op == Op::pad ||
           node.op == Op::scatter_add || (node.op == Op::constant && node.shape.rank() > 0);
}

}  // namespace detail

/// Refuses the first node that computes with a size which no input, output or parameter has.
constexpr void refuse_unknown_sizes(Graph& graph) {
    std::vector<Symbol> known;
    const auto is_known = [&](const Symbol& symbol) {
        for (const Symbol& other : known)
            if (other == symbol) return true;
        return false;
    };
    for (const Node& node : graph.nodes) {
        const bool bears =
            node.op == Op::input || node.op == Op::parameter || node.op == Op::output;
        if (!bears) continue;
        for (const Dim& dim : node.shape)
            dim.each_symbol([&](const Symbol& symbol) {
                if (!is_known(symbol)) known.push_back(symbol);
            });
    }
    for (const Node& node : graph.nodes) {
        if (!detail::brings_sizes(node)) continue;
        Symbol unknown;
        const auto look = [&](const Dim& dim) {
            if (dim.is_static()) return;
            dim.each_symbol([&](const Symbol& symbol) {
                if (!is_known(symbol)) unknown = symbol;
            });
        };
        look(node.dim);
        if (node.op == Op::slice) look(node.shape[node.axis]);
        else
            for (const Dim& dim : node.shape) look(dim);
        if (!unknown) continue;
        Text text;
        text << "the size " << unknown
             << " is one of no input, output or parameter: nobody can know "
             << "it when the model runs";
        graph.fail(node.location, node.scope, text);
        return;
    }
}

/// Refuses a model that gives nothing.
constexpr void refuse_no_output(Graph& graph) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::output) return;
    Text text;
    text << "the model has no output: name what it gives with s.output(\"y\", y)";
    graph.fail(graph.nodes.back().location, 0, text);
}

/// Called when a model is whole.
constexpr void verify_whole(Graph& graph) {
    if (!graph.errors.empty()) return;
    // What a compiler has refused of a model is not in it, its output neither.
    if (!std::is_constant_evaluated()) refuse_no_output(graph);
    refuse_unknown_sizes(graph);
}

}  // namespace fovea
