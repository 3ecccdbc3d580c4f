// Which values lie in memory as bfloat16: those that contractions multiply.
#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

namespace {

class Storage {
  public:
    Storage(const Graph& graph, FusedGraph& fused) : graph_(graph), fused_(fused) {
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
            if (group.form != Form::contract) continue;
            for (int i : {0, 1}) {
                const int base = base_of(graph_[group.anchor].inputs[std::size_t(i)]);
                if (base > 0) multiplied_[std::size_t(base)] = true;
            }
        }
        fused_.in_bfloat16.assign(graph_.nodes.size(), false);
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            fused_.in_bfloat16[std::size_t(id)] =
                multiplied_[std::size_t(id)] && !kept_[std::size_t(id)] && may_change(id);
    }

  private:
    int base_of(int id) const { return fused_.layouts[std::size_t(id)].base; }

    /// Kernels of these forms read and write any type of element.
    static bool takes_any_type(Form form) {
        return form == Form::rows || form == Form::columns || form == Form::contract ||
               form == Form::copy;
    }
    bool may_change(int id) const {
        return row_of(graph_[id].op).op_class != OpClass::leaf &&
               fused_.output_of[std::size_t(id)] < 0 && graph_[id].dtype == DType::f32;
    }
    void note(const Group& group, int id) {
        if (base_of(id) > 0 && !takes_any_type(group.form)) kept_[std::size_t(base_of(id))] = true;
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
    std::vector<bool> multiplied_, kept_, seen_;
};

}  // namespace

void store_bfloat16(const Graph& graph, FusedGraph& fused) { Storage(graph, fused).run(); }

}  // namespace fovea::fuse
