// Placing: which values get memory, how views read it, and where a copy cannot be helped.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

namespace {

class Placement {
  public:
    Placement(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused)
        : graph_(graph), inlined_(inlined), fused_(fused), readers_(readers_of(graph)) {
        fused_.layouts.resize(graph.nodes.size());
        fused_.output_of.assign(graph.nodes.size(), -1);
        varies_ = varying_nodes(graph);
    }

    void run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            switch (row_of(graph_[id].op).op_class) {
                case OpClass::leaf: layout(id) = row_major(id, graph_[id].shape); break;
                case OpClass::view: place_view(id); break;
                case OpClass::output: place_output(id); break;
                case OpClass::copy: place_concat(id); break;
                default:
                    if (!inlined_[std::size_t(id)] && is_read_outside(id, group_of(id))) store(id);
            }
        }
    }

  private:
    Layout& layout(int id) { return fused_.layouts[std::size_t(id)]; }
    int group_of(int id) const { return fused_.group_of[std::size_t(id)]; }

    bool is_read_outside(int id, int group) const {
        for (int reader : readers_[std::size_t(id)]) {
            if (inlined_[std::size_t(reader)] ? is_read_outside(reader, group)
                                              : group_of(reader) != group)
                return true;
        }
        return false;
    }

    int only_reader(int id) const {
        const std::vector<int>& readers = readers_[std::size_t(id)];
        return readers.size() == 1 ? readers[0] : 0;
    }
    /// The concatenation that alone reads `id`, once; 0 where there is none.
    int concat_of(int id) const {
        const int reader = only_reader(id);
        if (!reader || graph_[reader].op != Op::concat) return 0;
        const Inputs& parts = graph_[reader].inputs;
        return std::count(parts.begin(), parts.end(), id) == 1 ? reader : 0;
    }
    /// The concatenation that takes in `id`, with those that take in that one.
    int whole_concat(int id) const {
        int whole = 0;
        for (int reader = concat_of(id); reader; reader = concat_of(reader)) whole = reader;
        return whole;
    }
    /// Whether the kernel that computes a value can store it between others; what is prepared once
    /// does not lie beside what each run computes.
    bool can_be_part(int id) const {
        const int g = group_of(id);
        if (g < 0 || !varies_[std::size_t(id)]) return false;
        const Group& group = fused_.groups[std::size_t(g)];
        return (group.form == Form::rows || group.form == Form::contract) &&
               graph_[id].shape == group.domain;
    }
    /// Where a value, or a concatenation of such, lies in the one that takes it in: its kernel
    /// stores it there, and what others compute is copied beside it.
    std::optional<Layout> part_of_concat(int id) const {
        const int whole = whole_concat(id);
        if (!fused_.enabled || !whole || !varies_[std::size_t(id)]) return {};
        if (graph_[id].op != Op::concat && !can_be_part(id)) return {};
        Layout place = place_of_concat(whole);
        Dim offset(0);
        for (int part = id; part != whole; part = only_reader(part)) {
            if (!varies_[std::size_t(part)]) return {};
            const Node& reader = graph_[only_reader(part)];
            for (int before : reader.inputs) {
                if (before == part) break;
                offset = offset + graph_[before].shape[reader.axis] * stride_of(place, reader.axis);
            }
        }
        for (int i = 0; i < graph_[id].shape.rank(); ++i) {
            auto& factors = place.dims[std::size_t(i)];
            const Dim extent = graph_[id].shape[i].without_label();
            if (extent.is_one()) factors.clear();
            else if (!factors.empty()) factors[0].extent = extent;
        }
        place.offset = offset;
        return place;
    }
    /// Memory of its own, or of the rearrangement that reads it and cannot read it in place.
    Layout place_of_concat(int id) const {
        if (is_read_by_loop(id)) return row_major(id, graph_[id].shape);
        return own_or_rearranged(id);
    }
    Layout own_or_rearranged(int id) const {
        Layout own = row_major(id, graph_[id].shape);
        const int reader = only_rearrangement(id);
        if (!reader) return own;
        const Node& view = graph_[reader];
        const RearrangeAxes& axes = graph_.rearranges[std::size_t(view.attribute)];
        auto read_in_place = rearranged(own, axes);
        if (read_in_place && is_strided(*read_in_place) &&
            (!is_read_by_loop(reader) || is_dense(*read_in_place)) &&
            !is_product_of_an_output(id, reader))
            return own;
        const Layout moved = stored_rearranged(reader, view.shape, axes);
        return is_strided(moved) ? moved : own;
    }

    /// An output lies in the order of its axes, and the columns of a product go along whichever is
    /// last in memory: gradients of weights [in, out] are no copies.
    bool is_product_of_an_output(int id, int view) const {
        const int g = group_of(id);
        if (g < 0 || fused_.groups[std::size_t(g)].form != Form::contract) return false;
        return std::ranges::any_of(readers_[std::size_t(view)], [&](int reader) {
            return row_of(graph_[reader].op).op_class == OpClass::output;
        });
    }

    /// The step of a loop takes its part of a value to lie there from start to end, in order.
    bool is_read_by_loop(int id) const {
        for (int reader : readers_[std::size_t(id)]) {
            const OpClass of = row_of(graph_[reader].op).op_class;
            if (of == OpClass::scan || of == OpClass::loss) return true;
        }
        return false;
    }
    /// The loop over chunks of a loss takes what it reads from the start of its memory.
    bool is_read_by_loss(int id) const {
        return std::ranges::any_of(readers_[std::size_t(id)], [&](int reader) {
            return row_of(graph_[reader].op).op_class == OpClass::loss;
        });
    }
    static bool is_dense(Layout value) {
        value.offset = Dim(0);
        return is_whole(value);
    }

    /// The value in whose memory `id` is made: the table after rows are added to it.
    int table_with(int id) const {
        for (int reader : readers_[std::size_t(id)])
            if (graph_[reader].op == Op::scatter_add && graph_[reader].inputs[2] == id)
                return table_with(reader);
        return id;
    }

    void store(int id) {
        Group& group = fused_.groups[std::size_t(group_of(id))];
        group.stored.push_back(id);
        const int memory = table_with(id);
        layout(id) = row_major(memory, graph_[id].shape);
        if (memory != id || group.form == Form::scatter || group.form == Form::copy) return;
        const bool loops = group.form == Form::scan || group.form == Form::loss;
        if (auto part = part_of_concat(id)) layout(id) = *part;
        else if (!loops && !is_read_by_loop(id)) layout(id) = own_or_rearranged(id);
    }

    /// The one view among the readers of a value, a rearrangement; 0 where there is none or another
    /// view or output beside it. Kernels read a value wherever it lies.
    int only_rearrangement(int id) const {
        int found = 0;
        for (int reader : readers_[std::size_t(id)]) {
            OpClass op_class = row_of(graph_[reader].op).op_class;
            bool moves = op_class == OpClass::view || op_class == OpClass::output ||
                         op_class == OpClass::copy || op_class == OpClass::scatter;
            if (!moves) continue;
            if (found || graph_[reader].op != Op::rearrange) return 0;
            found = reader;
        }
        return found;
    }

    /// Parts that lie in it already need no copy; a concatenation inside of another lies there.
    void place_concat(int id) {
        if (auto part = part_of_concat(id)) {
            layout(id) = *part;
            fused_.groups[std::size_t(group_of(id))].stored.push_back(id);
            return;
        }
        if (!is_read_outside(id, group_of(id))) return;
        store(id);
        if (fused_.enabled) layout(id) = place_of_concat(id);
    }
    void place_view(int id) {
        const Node& node = graph_[id];
        const Layout& input = layout(node.inputs[0]);
        if (input.base == id) {
            layout(id) = row_major(id, node.shape);
            return;
        }
        const auto in_place = viewed(graph_, id, input);
        bool readable =
            in_place && is_strided(*in_place) && (!is_read_by_loop(id) || is_dense(*in_place));
        if (readable && (!is_read_by_loss(id) || in_place->offset == Dim(0)))
            layout(id) = *in_place;
        else add_copy(id);
    }

    void place_output(int id) {
        const Layout& value = layout(graph_[id].inputs[0]);
        bool leaf = value.base < 0 || row_of(graph_[value.base].op).op_class == OpClass::leaf;
        bool whole = !leaf && is_whole(value) && graph_[id].dtype == graph_[value.base].dtype &&
                     same_size(graph_[id].shape, graph_[value.base].shape);
        if (whole && fused_.output_of[std::size_t(value.base)] < 0) {
            fused_.output_of[std::size_t(value.base)] = id;
            return;
        }
        add_copy(id);
        fused_.output_of[std::size_t(id)] = id;
    }

    static bool same_size(const Shape& a, const Shape& b) {
        Dim x(1), y(1);
        for (const Dim& dim : a) x = x * dim;
        for (const Dim& dim : b) y = y * dim;
        return x == y;
    }

    void add_copy(int id) {
        layout(id) = row_major(id, graph_[id].shape);
        fused_.group_of[std::size_t(id)] = int(fused_.groups.size());
        fused_.groups.push_back({.form = Form::copy,
                                 .nodes = {id},
                                 .stored = {id},
                                 .anchor = id,
                                 .domain = graph_[id].shape,
                                 .name = {}});
    }

    const Graph& graph_;
    const std::vector<bool>& inlined_;
    FusedGraph& fused_;
    std::vector<std::vector<int>> readers_;
    std::vector<bool> varies_;
};

}  // namespace

void place_values(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused) {
    Placement(graph, inlined, fused).run();
}

}  // namespace fovea::fuse
