#include "codegen/decode/source_values.h"

#include <algorithm>

#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

bool is_source(const Node& node) { return node.op == Op::input && node.name == kSource; }

class SourceFinder {
  public:
    explicit SourceFinder(const TimedGraph& timed)
        : timed_(timed), graph_(timed.model), of_source_(graph_.nodes.size(), false) {}

    SourceValues run() {
        found_.kept.assign(graph_.nodes.size(), false);
        found_.in_step.assign(graph_.nodes.size(), false);
        for (int id = 1; id < int(graph_.nodes.size()); ++id) mark_source(id);
        need(timed_.logits);
        for (int id = int(graph_.nodes.size()) - 1; id > 0; --id)
            if (found_.in_step[std::size_t(id)] && !found_.kept[std::size_t(id)]) need_inputs(id);
        return std::move(found_);
    }

  private:
    const AttentionAttributes& attention_of(int id) const {
        return graph_.attentions[std::size_t(graph_[id].attribute)];
    }
    void mark_source(int id) {
        if (!timed_.wanted[std::size_t(id)]) return;
        bool of_source = is_source(graph_[id]);
        for (int input : graph_[id].inputs)
            of_source = of_source || (input > 0 && of_source_[std::size_t(input)]);
        if (graph_[id].op == Op::attention)
            of_source = of_source || of_source_[std::size_t(attention_of(id).score)];
        of_source_[std::size_t(id)] = of_source;
    }

    /// A value that a step reads.
    void need(int id) {
        found_.in_step[std::size_t(id)] = true;
        found_.kept[std::size_t(id)] = of_source_[std::size_t(id)] && !timed_.has_time(id) &&
                                       !graph_[id].region && !is_source(graph_[id]);
    }
    void need_inputs(int id) {
        const Node& node = graph_[id];
        for (int i = 0; i < int(kMaxInputs); ++i)
            if (node.inputs[std::size_t(i)] > 0 && !is_first_state(id, i))
                need(node.inputs[std::size_t(i)]);
        if (graph_[id].op == Op::attention) need(attention_of(id).score);
    }

    /// Whether operand `i` is what a loop along positions begins with: later steps go on from the
    /// state that the step before has left.
    bool is_first_state(int id, int i) const {
        if (!timed_.has_time(id) || !is_scan(graph_, id)) return false;
        const ScanFunction& function = *scan_of(graph_, id).function;
        return i >= function.sequences && i < function.sequences + function.states;
    }

    const TimedGraph& timed_;
    const Graph& graph_;
    SourceValues found_;
    std::vector<bool> of_source_;  // by node: what depends on the source
};

}  // namespace

SourceValues find_source_values(const TimedGraph& timed) { return SourceFinder(timed).run(); }

bool has_source(const Graph& model) { return std::ranges::any_of(model.nodes, is_source); }

}  // namespace fovea
