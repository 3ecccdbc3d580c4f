// Grouping: from the last node to the first, each joins the group of a reader, if it can.
#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"
#include "codegen/graph/same_node.h"
#include "codegen/graph/scan_function.h"

namespace fovea::fuse {

namespace {

/// The axes over which a reduction runs include the last one (and, then, no other).
bool reduces_last(const Node& node) { return node.axis >> (node.shape.rank() - 1) & 1; }

/// `shape` is `domain` with the last dim 1: one value a row.
bool is_row_scalar(const Shape& shape, const Shape& domain) {
    if (shape.rank() != domain.rank() || shape.rank() == 0 || !shape[-1].is_one()) return false;
    for (int i = 0; i + 1 < shape.rank(); ++i)
        if (!(shape[i] == domain[i])) return false;
    return true;
}

class Grouping {
  public:
    Grouping(const Graph& graph, const std::vector<bool>& inlined, bool enabled)
        : graph_(graph), inlined_(inlined), enabled_(enabled), readers_(readers_of(graph)) {
        fused_.group_of.assign(graph.nodes.size(), -1);
    }

    FusedGraph run() {
        for (int id = int(graph_.nodes.size()) - 1; id > 0; --id)
            if (computes(id)) place(id);
        for (Group& group : fused_.groups) std::sort(group.nodes.begin(), group.nodes.end());
        return std::move(fused_);
    }

  private:
    bool computes(int id) const {
        OpClass op_class = row_of(graph_[id].op).op_class;
        if (op_class == OpClass::composite)
            throw InternalError("fuse: a composite is left: " +
                                std::string(row_of(graph_[id].op).name));
        return !inlined_[std::size_t(id)] && op_class != OpClass::leaf &&
               op_class != OpClass::view && op_class != OpClass::output;
    }

    void place(int id) {
        if (graph_[id].op == Op::fused_attention) return place_attention(id);
        if (graph_[id].op == Op::scan) return place_with(id, Form::scan, is_same_scan);
        if (graph_[id].op == Op::linear_cross_entropy)
            return place_with(id, Form::loss, is_same_loss);
        std::vector<int> readers;
        collect_readers(id, readers);
        if (enabled_ && graph_[id].op == Op::einsum) unite_readers(id, readers);
        for (int reader : readers) {
            int group = fused_.group_of[std::size_t(reader)];
            if (group < 0) continue;
            auto reason = why_not_join(id, group, readers);
            if (!reason) return join(id, group);
            if (enabled_) fused_.refusals.push_back({id, reader, *reason});
        }
        start_group(id);
    }

    /// Elementwise kernels that read a product in its shape are one, its epilogue.
    void unite_readers(int id, const std::vector<int>& readers) {
        int first = -1;
        for (int reader : readers) {
            const int own = fused_.group_of[std::size_t(reader)];
            if (own < 0 || own == first || reads_memory(id, reader)) continue;
            const Group& group = fused_.groups[std::size_t(own)];
            const bool is_plain = group.form == Form::rows && !group.reduces &&
                                  std::ranges::all_of(group.nodes, [&](int mate) {
                                      return graph_[mate].shape == graph_[id].shape;
                                  });
            if (!is_plain) continue;
            if (first < 0) first = own;
            else if (!leads(own, first) && !leads(first, own)) move_nodes(own, first);
        }
    }
    void move_nodes(int from, int to) {
        std::vector<int>& moved = fused_.groups[std::size_t(from)].nodes;
        for (int id : moved) fused_.group_of[std::size_t(id)] = to;
        std::vector<int>& nodes = fused_.groups[std::size_t(to)].nodes;
        nodes.insert(nodes.end(), moved.begin(), moved.end());
        moved.clear();
    }

    /// Results of the same attention are of one kernel: the output with the statistics, and the
    /// gradients with each other.
    void place_attention(int id) {
        for (std::size_t g = 0; g < fused_.groups.size(); ++g) {
            Group& group = fused_.groups[g];
            bool attends = group.form == Form::attention || group.form == Form::attention_gradient;
            if (!attends || !is_same_attention(graph_, id, group.anchor)) continue;
            group.nodes.push_back(id);
            group.anchor = id;
            fused_.group_of[std::size_t(id)] = int(g);
            return;
        }
        start_group(id);
    }
    /// All results of a loop, and all of a loss, are of one kernel.
    void place_with(int id, Form form, bool (*is_same)(const Graph&, int, int)) {
        for (std::size_t g = 0; g < fused_.groups.size(); ++g) {
            Group& group = fused_.groups[g];
            if (group.form != form || !is_same(graph_, id, group.anchor)) continue;
            group.nodes.push_back(id);
            group.anchor = id;
            fused_.group_of[std::size_t(id)] = int(g);
            return;
        }
        start_group(id);
    }
    static bool is_same_attention(const Graph& graph, int a, int b) {
        const Node &x = graph[a], &y = graph[b];
        return x.inputs == y.inputs && is_forward(x) == is_forward(y) &&
               x.recomputed == y.recomputed &&
               graph.attentions[std::size_t(x.attribute)].function ==
                   graph.attentions[std::size_t(y.attribute)].function;
    }
    static bool is_forward(const Node& attention) {
        return attention.result == AttentionResult::output ||
               attention.result == AttentionResult::statistics;
    }

    /// The nodes that read `id`, seen through inlined ones, earliest first.
    void collect_readers(int id, std::vector<int>& found) const {
        for (int reader : readers_[std::size_t(id)]) {
            if (inlined_[std::size_t(reader)]) collect_readers(reader, found);
            else if (std::find(found.begin(), found.end(), reader) == found.end())
                found.push_back(reader);
        }
    }

    std::optional<std::string> why_not_join(int id, int target,
                                            const std::vector<int>& readers) const {
        const Group& group = fused_.groups[std::size_t(target)];
        if (!enabled_) return "fusion is off";
        if (group.form != Form::rows && group.form != Form::columns && group.form != Form::contract)
            return "its reader takes its operands from memory";
        for (int reader : readers)
            if (fused_.group_of[std::size_t(reader)] == target && reads_memory(id, reader))
                return "its reader takes its operands from memory";
        bool all_inside = std::all_of(readers.begin(), readers.end(), [&](int reader) {
            return fused_.group_of[std::size_t(reader)] == target;
        });
        if (auto reason = why_not_shape(id, group, all_inside)) return reason;
        if (!all_inside && leads_to(id, target))
            return "another reader of it comes before this kernel: a cycle";
        return std::nullopt;
    }

    bool reads_memory(int id, int reader) const {
        const Node& node = graph_[reader];
        OpClass op_class = row_of(node.op).op_class;
        if (op_class == OpClass::contraction || op_class == OpClass::scatter ||
            op_class == OpClass::copy || op_class == OpClass::attention ||
            op_class == OpClass::scan || op_class == OpClass::loss)
            return true;

        return looks_up(node) && std::ranges::find(node.inputs, id) != node.inputs.end();
    }

    std::optional<std::string> why_not_shape(int id, const Group& group, bool all_inside) const {
        const Node& node = graph_[id];
        switch (row_of(node.op).op_class) {
            case OpClass::elementwise:
                if (group.form == Form::rows && group.reduces &&
                    finishes_product(graph_, readers_, id))
                    return "it is the epilogue of a contraction";
                return why_not_elementwise(node, group, all_inside);
            case OpClass::reduction: return why_not_reduction(node, group);
            case OpClass::contraction: return why_not_contraction(node, group);
            default: return "it is a kernel of its own";
        }
    }
    std::optional<std::string> why_not_contraction(const Node& node, const Group& group) const {
        if (group.form == Form::contract) return why_not_beside(node, group);
        if (group.form != Form::rows || group.reduces)
            return "a contraction's epilogue has no reduction";
        for (int mate : group.nodes)
            if (!(graph_[mate].shape == node.shape)) return "the shapes differ";
        return std::nullopt;
    }
    /// Two products of one value with parameters of one shape are one kernel, with both sums of an
    /// element in its epilogue.
    std::optional<std::string> why_not_beside(const Node& node, const Group& group) const {
        const Node& other = graph_[group.anchor];
        const std::string taken = "its reader is the epilogue of another contraction";
        if (!group.beside.empty()) return taken + ", and of a second one";
        if (node.inputs[0] != other.inputs[0]) return taken + ", of another factor";
        const Node &a = graph_[node.inputs[1]], &b = graph_[other.inputs[1]];
        if (!is_weight(a) || !is_weight(b) || !(a.shape == b.shape))
            return taken + ", and their weights are not two parameters of one shape";
        if (!has_labels_of(node, other) || node.shape.rank() == 0 || node.shape[-1].is_one())
            return taken + ", whose sums lie otherwise";
        return std::nullopt;
    }
    /// Whether two products have the same axes in the same places.
    bool has_labels_of(const Node& node, const Node& other) const {
        const EinsumAxes& own = graph_.einsums[std::size_t(node.attribute)];
        const EinsumAxes& its = graph_.einsums[std::size_t(other.attribute)];
        std::vector<std::pair<int, int>> pairs;
        const auto fit = [&](const EinsumAxes::List& x, const EinsumAxes::List& y) {
            for (int i = 0; i < x.count && x.count == y.count; ++i)
                pairs.push_back({x.label[std::size_t(i)], y.label[std::size_t(i)]});
            return x.count == y.count;
        };
        if (!fit(own.a, its.a) || !fit(own.b, its.b) || !fit(own.out, its.out)) return false;
        for (const auto& [x, y] : pairs)
            for (const auto& [u, v] : pairs)
                if ((x == u) != (y == v)) return false;
        return true;
    }
    static std::optional<std::string> why_not_elementwise(const Node& node, const Group& group,
                                                          bool all_inside) {
        bool whole = node.shape == group.domain;
        if (group.form == Form::columns && !(whole && all_inside))
            return "a reduction over columns fuses what it alone reads";
        if (group.form == Form::contract && !whole) return "the shapes differ";
        if (group.form == Form::rows && !whole && !is_row_scalar(node.shape, group.domain))
            return "the shapes differ";
        return std::nullopt;
    }
    std::optional<std::string> why_not_reduction(const Node& node, const Group& group) const {
        if (!reduces_last(node)) return "it reduces over columns";
        if (group.form != Form::rows) return "its reader is not a row kernel";
        const Shape& input = graph_[node.inputs[0]].shape;
        bool same_rows = is_row_scalar(node.shape, group.domain);
        if (!same_rows || !(input == group.domain || group.domain[-1].is_one()))
            return "the rows differ";
        return std::nullopt;
    }

    /// Whether a value computed from `id` outside of `target` is read inside of it.
    bool leads_to(int id, int target) const { return leads_to(std::vector<int>{id}, target, -1); }
    /// Whether a group outside of both reads something of `from` and leads to `to`.
    bool leads(int from, int to) const {
        return leads_to(fused_.groups[std::size_t(from)].nodes, to, from);
    }
    bool leads_to(const std::vector<int>& ids, int target, int own) const {
        std::vector<int> open;
        std::vector<bool> seen(graph_.nodes.size(), false);
        auto visit = [&](int node) {
            if (!seen[std::size_t(node)]) open.push_back(node);
            seen[std::size_t(node)] = true;
        };
        for (int id : ids) {
            std::vector<int> readers;
            collect_readers(id, readers);
            for (int reader : readers) {
                const int group = fused_.group_of[std::size_t(reader)];
                if (group != target && (own < 0 || group != own)) visit(reader);
            }
        }
        while (!open.empty()) {
            int at = open.back();
            open.pop_back();
            int group = fused_.group_of[std::size_t(at)];
            if (group == target) return true;
            if (group >= 0)
                for (int mate : fused_.groups[std::size_t(group)].nodes) visit(mate);
            for (int reader : readers_[std::size_t(at)]) visit(reader);
        }
        return false;
    }

    void join(int id, int target) {
        Group& group = fused_.groups[std::size_t(target)];
        const Node& node = graph_[id];
        group.nodes.push_back(id);
        fused_.group_of[std::size_t(id)] = target;
        if (node.op == Op::einsum && group.form == Form::contract) group.beside.push_back(id);
        if (node.op == Op::einsum && group.form == Form::rows) {
            group.form = Form::contract;
            group.anchor = id;
        }
        if (node.op == Op::reduce) {
            group.reduces = true;
            group.domain = graph_[node.inputs[0]].shape;
        }
    }

    void start_group(int id) {
        const Node& node = graph_[id];
        Group group{
            .form = Form::rows, .nodes = {id}, .stored = {}, .domain = node.shape, .name = {}};
        OpClass op_class = row_of(node.op).op_class;
        if (op_class == OpClass::contraction) group.form = Form::contract;
        if (op_class == OpClass::scatter) group.form = Form::scatter;
        if (op_class == OpClass::copy) group.form = Form::copy;
        if (op_class == OpClass::scan) group.form = Form::scan;
        if (op_class == OpClass::loss) group.form = Form::loss;
        if (op_class == OpClass::attention)
            group.form = is_forward(node) ? Form::attention : Form::attention_gradient;

        if (op_class == OpClass::reduction) {
            group.domain = graph_[node.inputs[0]].shape;
            group.reduces = reduces_last(node);
            if (!group.reduces) group.form = Form::columns;
        }
        if (group.form != Form::rows) group.anchor = id;
        fused_.group_of[std::size_t(id)] = int(fused_.groups.size());
        fused_.groups.push_back(group);
    }

    const Graph& graph_;
    const std::vector<bool>& inlined_;
    bool enabled_;
    std::vector<std::vector<int>> readers_;
    FusedGraph fused_;
};

}  // namespace

FusedGraph group_nodes(const Graph& graph, const std::vector<bool>& inlined, bool enabled) {
    return Grouping(graph, inlined, enabled).run();
}

}  // namespace fovea::fuse
