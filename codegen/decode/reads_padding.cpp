// Asks each op what it does along the positions of the source.
#include "codegen/decode/reads_padding.h"

#include "codegen/decode/source_values.h"
#include "codegen/graph/axes.h"
#include "codegen/graph/op_def.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

/// 0 where the model has no source, or one of a fixed length.
Symbol length_of_source(const Graph& model) {
    for (const Node& node : model.nodes)
        if (node.op == Op::input && node.name == kSource && node.shape.rank() == 2)
            return node.shape[1].bare_symbol();
    return {};
}

/// Whether a mask can hide padded keys.
bool has_mask(const AttentionAttributes& attributes) {
    return attributes.has_lens || attributes.has_allowed || attributes.has_segments;
}

class PaddingSearch {
  public:
    explicit PaddingSearch(const Symbol& length) : length_(length) {}

    bool finds(const Graph& graph) const {
        for (int id = 1; id < int(graph.nodes.size()); ++id)
            if (mixes(graph, id)) return true;
        return false;
    }

  private:
    bool mixes(const Graph& graph, int id) const {
        const Node& node = graph[id];
        if (node.op == Op::output || node.region) return false;
        if (node.dim.holds(length_)) return true;
        if (is_scan(graph, id) && finds(scan_of(graph, id).function->step)) return true;
        for (int i = 0; i < int(kMaxInputs); ++i) {
            const int input = node.inputs[std::size_t(i)];
            if (input <= 0) continue;
            for (int axis = 0; axis < graph[input].shape.rank(); ++axis)
                if (graph[input].shape[axis].holds(length_) && mixes_along(graph, id, i, axis))
                    return true;
        }
        return false;
    }

    /// Whether node `id` computes with several positions along an axis of operand `i`.
    bool mixes_along(const Graph& graph, int id, int i, int axis) const {
        const Node& node = graph[id];
        if (node.op == Op::attention) {
            const bool is_pair = i == 1 || i == 2;
            return is_pair && !has_mask(graph.attentions[std::size_t(node.attribute)]);
        }
        if (is_scan(graph, id)) return i < scan_of(graph, id).function->sequences && axis == 0;
        if (!op_def(node.op).axis) return true;
        return axis_use(graph, id, i, axis).along != Along::maps;
    }

    Symbol length_;
};

}  // namespace

bool reads_padding(const Graph& model) {
    const Symbol length = length_of_source(model);
    return length && PaddingSearch(length).finds(model);
}

}  // namespace fovea
