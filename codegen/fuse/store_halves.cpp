// Which values lie in memory as floats of 16 bits: those that contractions and attention multiply.
// Casts between them and inputs or outputs of the same type are then nothing to compute.
#include "codegen/fuse/fuse.h"
#include "codegen/graph/attention_input.h"

namespace fovea::fuse {

namespace {

class Storage {
  public:
    Storage(const Graph& graph, FusedGraph& fused, bool apart)
        : graph_(graph), fused_(fused), apart_(apart), readers_(readers_of(graph)) {
        multiplied_.resize(graph.nodes.size());
        kept_.resize(graph.nodes.size());
    }

    void run() {
        for (const Group& group : fused_.groups) {
            seen_.assign(graph_.nodes.size(), false);
            for (int id : group.nodes)
                for (int input : graph_[id].inputs)
                    if (input > 0) touch(group, input);
            for (int id : group.stored) note(group, id);
            for (int input : factors_of(group)) {
                const int base = base_of(input);
                if (base > 0) multiplied_[std::size_t(base)] = true;
            }
        }
        keep_compared();
        fused_.in_halves.assign(graph_.nodes.size(), false);
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            fused_.in_halves[std::size_t(id)] =
                multiplied_[std::size_t(id)] && !kept_[std::size_t(id)] && may_change(id);
        for (std::size_t group = fused_.groups.size(); group-- > 0;) {
            if (!only_casts(fused_.groups[group])) continue;
            if (reads_halves(fused_.groups[group])) read_in_place(group);
            else if (writes_output(fused_.groups[group])) write_in_place(group);
        }
    }

  private:
    int base_of(int id) const { return fused_.layouts[std::size_t(id)].base; }

    /// What a group multiplies.
    std::vector<int> factors_of(const Group& group) const {
        const auto& inputs = graph_[group.anchor].inputs;
        if (group.form == Form::contract) {
            std::vector<int> all{inputs[0], inputs[1]};
            for (int beside : group.beside) all.push_back(graph_[beside].inputs[1]);
            return all;
        }
        if (!is_attention(group)) return {};
        std::vector<int> factors;
        for (AttentionInput input : {AttentionInput::query, AttentionInput::key,
                                     AttentionInput::value, AttentionInput::cotangent})
            if (const int id = inputs[std::size_t(int(input))]; id > 0) factors.push_back(id);
        return factors;
    }
    static bool is_attention(const Group& group) {
        return group.form == Form::attention || group.form == Form::attention_gradient;
    }
    /// Whether its kernel reads and writes any type of element.
    bool takes_any_type(const Group& group) const {
        return is_attention(group) || group.form == Form::rows || group.form == Form::columns ||
               group.form == Form::contract || group.form == Form::copy;
    }
    bool may_change(int id) const {
        return row_of(graph_[id].op).op_class != OpClass::leaf &&
               fused_.output_of[std::size_t(id)] < 0 && graph_[id].dtype == DType::f32;
    }
    /// Whether a group does nothing but give a whole value another type.
    bool only_casts(const Group& group) const {
        if (group.anchor >= 0 || group.nodes.size() != 1 || group.prepared) return false;
        const int id = group.nodes[0];
        const Node& node = graph_[id];
        return node.op == Op::elementwise && node.function == Elementwise::identity &&
               graph_[node.inputs[0]].shape == node.shape && base_of(id) == id &&
               is_whole(fused_.layouts[std::size_t(id)]);
    }
    /// From an input of the program that lies as `half` to the same.
    bool reads_halves(const Group& group) const {
        const Node& input = graph_[graph_[group.nodes[0]].inputs[0]];
        return fused_.in_halves[std::size_t(group.nodes[0])] && input.op == Op::input &&
               input.dtype == fused_.half;
    }
    /// From a value that each run computes, that may lie as `half` and that nothing else reads, to
    /// an output of the program that does.
    bool writes_output(const Group& group) const {
        const int id = group.nodes[0], value = graph_[id].inputs[0];
        return graph_[id].dtype == fused_.half && fused_.output_of[std::size_t(id)] >= 0 &&
               base_of(value) == value && is_whole(fused_.layouts[std::size_t(value)]) &&
               !is_prepared(value) && !kept_[std::size_t(value)] && may_change(value) &&
               is_read_alone(value, id);
    }
    bool is_prepared(int value) const {
        const int group = fused_.group_of[std::size_t(value)];
        return group >= 0 && fused_.groups[std::size_t(group)].prepared;
    }
    /// Whether the memory of `value` is read by `reader` alone: other nodes may lie there, too.
    bool is_read_alone(int value, int reader) const {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            if (base_of(id) != value) continue;
            for (int other : readers_[std::size_t(id)])
                if (other != reader && base_of(other) != value) return false;
        }
        return true;
    }
    /// Whoever reads the copy reads the input instead.
    void read_in_place(std::size_t group) {
        const int copy = fused_.groups[group].nodes[0];
        fused_.in_halves[std::size_t(copy)] = false;
        leave_out(group, graph_[copy].inputs[0]);
    }
    /// Whoever computes the value stores it as the output.
    void write_in_place(std::size_t group) {
        const int copy = fused_.groups[group].nodes[0], value = graph_[copy].inputs[0];
        fused_.in_halves[std::size_t(value)] = true;
        std::swap(fused_.output_of[std::size_t(value)], fused_.output_of[std::size_t(copy)]);
        leave_out(group, value);
    }
    /// A group that only casts; its value lies where `base` does.
    void leave_out(std::size_t group, int base) {
        const int copy = fused_.groups[group].nodes[0];
        for (Layout& layout : fused_.layouts)
            if (layout.base == copy) layout.base = base;
        fused_.groups.erase(fused_.groups.begin() + std::ptrdiff_t(group));
        for (int& of : fused_.group_of) {
            if (of == int(group)) of = -1;
            else if (of > int(group)) --of;
        }
    }
    /// A gradient of queries that tiles of keys add to in memory.
    bool adds_up(const Group& group, int id) const {
        return group.form == Form::attention_gradient && !apart_ &&
               graph_[id].result == AttentionResult::query;
    }
    void note(const Group& group, int id) {
        if (base_of(id) > 0 && (!takes_any_type(group) || adds_up(group, id)))
            kept_[std::size_t(base_of(id))] = true;
    }
    /// The gradient of a maximum goes where a value equals it: one kernel has the value before it
    /// is rounded, another reads it rounded, and then nothing is equal.
    void keep_compared() {
        seen_.assign(graph_.nodes.size(), false);
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.op == Op::elementwise && node.function == Elementwise::eq)
                for (int input : {node.inputs[0], node.inputs[1]}) keep(input);
        }
    }
    void keep(int id) {
        if (seen_[std::size_t(id)]) return;
        seen_[std::size_t(id)] = true;
        if (base_of(id) > 0) {
            kept_[std::size_t(base_of(id))] = true;
            return;
        }
        for (int input : graph_[id].inputs)
            if (input > 0) keep(input);
    }
    /// What a group reads: values with memory, and those behind values that it computes itself.
    void touch(const Group& group, int id) {
        if (seen_[std::size_t(id)]) return;
        seen_[std::size_t(id)] = true;
        note(group, id);
        if (base_of(id) > 0) return;
        for (int input : graph_[id].inputs)
            if (input > 0) touch(group, input);
    }

    const Graph& graph_;
    FusedGraph& fused_;
    bool apart_;
    std::vector<std::vector<int>> readers_;
    std::vector<bool> multiplied_, kept_, seen_;
};

}  // namespace

void store_halves(const Graph& graph, FusedGraph& fused, DType half, bool apart) {
    fused.half = half;
    Storage(graph, fused, apart).run();
}

}  // namespace fovea::fuse
