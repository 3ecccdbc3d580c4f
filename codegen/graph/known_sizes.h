// Whether the sizes that a model computes with are sizes of its inputs, outputs or parameters:
// others would be known to nobody who runs it.
#pragma once

#include "codegen/graph/graph.h"

namespace fovea {

/// Refuses the first operand that is a size which no input, output or parameter has. Called when a
/// model is whole.
constexpr void refuse_unknown_sizes(Graph& graph) {
    List<Symbol> known;
    const auto is_known = [&](const Symbol& symbol) {
        for (const Symbol& other : known)
            if (other == symbol) return true;
        return false;
    };
    List<const Node*> extents;
    const Node* const end = graph.nodes.end();
    for (const Node* node = graph.nodes.begin(); node != end; ++node)
        if (node->op == Op::input || node->op == Op::parameter || node->op == Op::output) {
            for (const Dim& dim : node->shape)
                dim.each_symbol([&](const Symbol& symbol) {
                    if (!is_known(symbol)) known.push_back(symbol);
                });
        } else if (node->op == Op::extent && !node->dim.is_static()) {
            extents.push_back(node);
        }
    for (const Node* node : extents) {
        Symbol unknown;
        node->dim.each_symbol([&](const Symbol& symbol) {
            if (!is_known(symbol)) unknown = symbol;
        });
        if (!unknown) continue;
        Text text;
        text << "the size " << unknown
             << " is one of no input, output or parameter: nobody can know "
             << "it when the model runs";
        graph.fail(node->location, node->scope, text);
        return;
    }
}

}  // namespace fovea
