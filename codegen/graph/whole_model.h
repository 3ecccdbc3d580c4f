// What is refused when a model is whole: that it has no output, and sizes that nobody knows who
// runs it.
#pragma once

#include <vector>

#include "codegen/graph/graph.h"

namespace fovea {

/// Refuses the first operand that is a size which no input, output or parameter has.
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
        if (node.op != Op::extent) continue;
        Symbol unknown;
        node.dim.each_symbol([&](const Symbol& symbol) {
            if (!is_known(symbol)) unknown = symbol;
        });
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
    refuse_no_output(graph);
    refuse_unknown_sizes(graph);
}

}  // namespace fovea
