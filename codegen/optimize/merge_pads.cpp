#include "codegen/optimize/merge_pads.h"

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

class PadMerging {
  public:
    explicit PadMerging(const Graph& graph) : graph_(graph), readers_(graph.nodes.size(), 0) {
        for (const Node& node : graph.nodes)
            for (int input : node.inputs)
                if (input > 0) ++readers_[std::size_t(input)];
    }

    /// The concatenation that node `id`, a sum, is; nothing where it is none.
    std::optional<Tensor> merged(Rewrite& rewrite, int id) {
        parts_.clear();
        axis_ = -1;
        if (!is_sum(id) || !collect_terms(id) || parts_.size() < 2) return {};
        std::int64_t at = 0;
        Tensor whole;
        const Shape& shape = graph_[id].shape;
        if (!shape[axis_].is_static()) return {};
        for (const auto& [first, part] : parts_) {
            if (first < at) return {};
            at = first + graph_[part].shape[axis_].value();
        }
        auto append = [&](Tensor part) { whole = whole ? concat(whole, part, axis_) : part; };
        auto fill_to = [&](std::int64_t from, std::int64_t to) {
            Shape zeros = shape;
            zeros[axis_] = Dim(to - from);
            if (to > from) append(full(rewrite.target(), zeros, 0, graph_[id].dtype));
        };
        at = 0;
        for (const auto& [first, part] : parts_) {
            fill_to(at, first);
            append(rewrite.mapped(part));
            at = first + graph_[part].shape[axis_].value();
        }
        fill_to(at, shape[axis_].value());
        return whole;
    }

  private:
    bool is_sum(int id) const {
        const Node& node = graph_[id];
        return node.op == Op::elementwise && node.function == Elementwise::add;
    }
    bool collect_terms(int id) {
        for (std::size_t i : {0, 1}) {
            const int term = graph_[id].inputs[i];
            if (!(graph_[term].shape == graph_[id].shape) || readers_[std::size_t(term)] > 1)
                return false;
            if (is_sum(term) ? !collect_terms(term) : !collect_parts(term, 0)) return false;
        }
        return true;
    }
    /// Adds the parts of a padded value that are not zeros.
    bool collect_parts(int id, std::int64_t first) {
        const Node& node = graph_[id];
        if (node.op != Op::concat || (axis_ >= 0 && node.axis != axis_)) return false;
        axis_ = node.axis;
        for (int input : {node.inputs[0], node.inputs[1]}) {
            const Node& part = graph_[input];
            if (!part.shape[axis_].is_static()) return false;
            const bool zeros = part.op == Op::constant && part.value == 0;
            const bool nested = part.op == Op::concat && part.axis == axis_;
            if (nested && !collect_parts(input, first)) return false;
            if (!nested && !zeros && !parts_.emplace(first, input).second) return false;
            first += part.shape[axis_].value();
        }
        return true;
    }

    const Graph& graph_;
    std::vector<int> readers_;
    std::map<std::int64_t, int> parts_;  // by their first position
    int axis_ = -1;
};

}  // namespace

Graph merge_pads(const Graph& graph) {
    PadMerging merging(graph);
    return Rewrite::run(graph,
                        [&](Rewrite& rewrite, int id) { return merging.merged(rewrite, id); });
}

}  // namespace fovea
