#include "codegen/optimize/merge_pads.h"

#include <map>
#include <vector>

#include "codegen/graph/rewrite.h"
#include "codegen/ops/concat.h"
#include "codegen/ops/elementwise.h"
#include "codegen/ops/movement.h"

namespace fovea {

namespace {

class PadMerging {
  public:
    explicit PadMerging(const Graph& graph) : graph_(graph), readers_(count_readers(graph)) {}

    /// The concatenation that node `id`, a sum, is; nothing where it is none.
    std::optional<Tensor> merged(Rewrite& rewrite, int id) {
        parts_.clear();
        axis_ = -1;
        if (!is_sum(id) || !collect_terms(id)) return {};
        std::int64_t at = 0;
        for (const auto& [first, part] : parts_) {
            if (first < at) return {};
            at = first + size_of(part);
        }
        std::vector<Tensor> all;
        const auto fill_to = [&](std::int64_t from, std::int64_t to) {
            Shape zeros = graph_[id].shape;
            zeros[axis_] = Dim(to - from);
            if (to > from) all.push_back(full(rewrite.target(), zeros, 0, graph_[id].dtype));
        };
        at = 0;
        for (const auto& [first, part] : parts_) {
            fill_to(at, first);
            all.push_back(rewrite.mapped(part));
            at = first + size_of(part);
        }
        fill_to(at, graph_[id].shape[axis_].value());
        if (all.size() > kMaxInputs) return {};
        return concat(all, axis_);
    }

  private:
    std::int64_t size_of(int part) const { return graph_[part].shape[axis_].value(); }
    bool is_sum(int id) const {
        const Node& node = graph_[id];
        return node.op == Op::elementwise && node.function == Elementwise::add;
    }
    bool collect_terms(int id) {
        for (std::size_t i : {0, 1}) {
            const int term = graph_[id].inputs[i];
            if (!(graph_[term].shape == graph_[id].shape) || readers_[std::size_t(term)] > 1)
                return false;
            if (is_sum(term) ? !collect_terms(term) : !collect_part(term, Dim(0))) return false;
        }
        return true;
    }
    /// Adds what is between the zeros.
    bool collect_part(int id, const Dim& before) {
        const Node& pad = graph_[id];
        if (pad.op != Op::pad || (axis_ >= 0 && pad.axis != axis_)) return false;
        axis_ = pad.axis;
        const int part = pad.inputs[0];
        const Dim first = before + pad.dim;
        if (graph_[part].op == Op::pad && graph_[part].axis == axis_)
            return collect_part(part, first);
        return first.is_static() && pad.shape[axis_].is_static() &&
               graph_[part].shape[axis_].is_static() && parts_.emplace(first.value(), part).second;
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
