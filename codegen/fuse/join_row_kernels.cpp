// Merges row kernels. A kernel joins the one whose costly values it alone reads: a loss and its
// gradient. Kernels of the parts of one value are merged: the gradients of an LSTM's gates. Sums
// over rows (the gradients of biases and of a norm's weight) join the kernel that computes or reads
// the rows, so that each row is read once. What is made again for the gradient joins the
// gradient's kernel that reads what it is made of.
#include <algorithm>
#include <set>

#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

class RowKernels {
  public:
    RowKernels(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused)
        : graph_(graph), inlined_(inlined), fused_(fused), readers_(readers_of(graph)) {}

    void run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (is_costly(id)) join_reader(id);
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (graph_[id].op == Op::concat) join_parts(id);
        for (int g = 0; g < int(fused_.groups.size()); ++g)
            if (sums_rows(group(g))) join(g);
        for (int g = 0; g < int(fused_.groups.size()); ++g)
            if (is_plain_rows(g) && is_made_again(group(g))) join_gradient(g);
        drop_empty_groups();
        std::erase_if(fused_.refusals, [&](const Refusal& refusal) {
            const int at = group_of(refusal.node);
            return at >= 0 && at == group_of(refusal.reader);
        });
    }

  private:
    Group& group(int g) { return fused_.groups[std::size_t(g)]; }
    int group_of(int id) const { return fused_.group_of[std::size_t(id)]; }

    /// Whether a row kernel computes the value, and what is expensive is not to be done twice.
    bool is_costly(int id) const {
        const Node& node = graph_[id];
        const int g = group_of(id);
        if (g < 0 || node.op != Op::elementwise || cost_of(node) != Cost::many) return false;
        const Group& own = fused_.groups[std::size_t(g)];
        return own.form == Form::rows && node.shape == own.domain;
    }

    void join_reader(int id) {
        const int own = group_of(id);
        const std::vector<int> readers = outside_readers(id, own);
        if (readers.empty()) return;
        const int other = group_of(readers[0]);
        for (int reader : readers)
            if (group_of(reader) != other) return;
        if (other < 0 || group(other).form != Form::rows || leads_to(own, other) ||
            !(group(other).domain == group(own).domain) || looks_up(other, own))
            return;
        group(own).reduces = group(own).reduces || group(other).reduces;
        move_nodes(other, own);
    }

    /// Whether kernel `reader` looks up what kernel `writer` computes: it reads other rows than its
    /// own, from memory.
    bool looks_up(int reader, int writer) {
        for (int id : group(reader).nodes)
            if (fovea::looks_up(graph_[id]))
                for (int input : graph_[id].inputs)
                    if (input > 0 && group_of(input) == writer) return true;
        return false;
    }

    /// The kernels of a concatenation's parts, those that are row kernels over the same rows.
    void join_parts(int concat) {
        std::vector<int> parts;
        collect_parts(concat, parts);
        for (std::size_t i = 1; i < parts.size(); ++i) {
            const int own = group_of(parts[0]), other = group_of(parts[i]);
            const bool same_rows = is_plain_rows(own) && is_plain_rows(other) && own != other &&
                                   group(own).domain == group(other).domain;
            if (same_rows && !leads_to(own, other) && !leads_to(other, own)) move_nodes(other, own);
        }
    }
    void collect_parts(int concat, std::vector<int>& parts) const {
        for (int part : graph_[concat].inputs) {
            if (part <= 0) break;
            if (graph_[part].op == Op::concat) collect_parts(part, parts);
            else if (readers_[std::size_t(part)].size() == 1) parts.push_back(part);
        }
    }
    bool is_plain_rows(int g) { return g >= 0 && group(g).form == Form::rows && !group(g).reduces; }

    void move_nodes(int from, int to) {
        for (int id : group(from).nodes) fused_.group_of[std::size_t(id)] = to;
        std::vector<int>& nodes = group(to).nodes;
        nodes.insert(nodes.end(), group(from).nodes.begin(), group(from).nodes.end());
        std::sort(nodes.begin(), nodes.end());
        group(from).nodes.clear();
    }

    bool is_made_again(const Group& of) const {
        return !of.nodes.empty() && std::ranges::all_of(of.nodes, [&](int id) {
            return graph_[id].recomputed && graph_[id].shape == of.domain;
        });
    }
    /// What is made again for the gradient is stored by the gradient's kernel that reads what it is
    /// made of: a product in its epilogue, or a row kernel.
    void join_gradient(int g) {
        std::set<int> values = values_of(group(g));
        for (int id : group(g).nodes) values.erase(id);
        for (int target = 0; target < int(fused_.groups.size()); ++target) {
            if (target == g || !is_of_gradient(group(target)) ||
                !(group(target).domain == group(g).domain))
                continue;
            const std::set<int> theirs = values_of(group(target));
            if (std::ranges::includes(theirs, values) && !needs_memory(target, g) &&
                !leads_to(target, g) && !leads_to(g, target))
                return move_nodes(g, target);
        }
    }
    /// Whether kernel `reader` needs in memory what kernel `writer` computes: it looks rows up in
    /// it, or by it, or multiplies it.
    bool needs_memory(int reader, int writer) {
        for (int id : group(writer).nodes)
            for (int other : outside_readers(id, writer))
                if (group_of(other) == reader && reads_memory(graph_, other)) return true;
        return false;
    }
    bool is_of_gradient(const Group& of) const {
        if (of.form == Form::contract) return graph_[of.anchor].backward;
        return of.form == Form::rows && !of.nodes.empty() &&
               std::ranges::all_of(of.nodes, [&](int id) { return graph_[id].backward; });
    }

    /// A sum of float32 over all axes but the last.
    bool sums_rows(const Group& columns) const {
        if (columns.form != Form::columns) return false;
        const Node& sum = graph_[columns.anchor];
        const int rank = columns.domain.rank();
        const Shape& input = graph_[sum.inputs[0]].shape;
        return sum.reduction == Reduction::sum && sum.dtype == DType::f32 && rank > 1 &&
               input == columns.domain && !columns.domain[-1].is_one() &&
               sum.axis == (1 << (rank - 1)) - 1;
    }

    void join(int g) {
        Group& columns = group(g);
        std::set<int> values = values_of(columns);
        values.erase(columns.anchor);
        if (values.empty()) return;
        for (int target = 0; target < int(fused_.groups.size()); ++target) {
            Group& rows = group(target);
            if (target == g || rows.nodes.empty() || rows.form != Form::rows ||
                !(rows.domain == columns.domain) || is_recomputed(rows) != is_recomputed(columns))
                continue;
            const std::set<int> theirs = values_of(rows);
            const bool shares = std::any_of(values.begin(), values.end(),
                                            [&](int id) { return theirs.contains(id); });
            if (!shares || reads(target, columns.anchor) || leads_to(target, g) ||
                leads_to(g, target))
                continue;
            rows.sums.push_back(columns.anchor);
            std::sort(rows.sums.begin(), rows.sums.end());
            return move_nodes(g, target);
        }
        columns.form = Form::rows;
        columns.sums = {columns.anchor};
        columns.anchor = -1;
    }

    /// What a checkpoint leaves for the gradient is not made with the forward pass.
    bool is_recomputed(const Group& of) const {
        return std::any_of(of.nodes.begin(), of.nodes.end(),
                           [&](int id) { return graph_[id].recomputed; });
    }

    /// Whether kernel `reader` reads a value of another kernel.
    bool reads(int reader, int id) const {
        const std::vector<int> all = outside_readers(id, group_of(id));
        return std::any_of(all.begin(), all.end(), [&](int r) { return group_of(r) == reader; });
    }

    /// The values in the shape of the group's domain that it computes or reads.
    std::set<int> values_of(const Group& of) const {
        std::set<int> values;
        for (int id : of.nodes) {
            if (graph_[id].shape == of.domain) values.insert(id);
            collect_inputs(id, of.domain, values);
        }
        return values;
    }
    void collect_inputs(int id, const Shape& domain, std::set<int>& values) const {
        if (fovea::looks_up(graph_[id])) return;  // of other rows
        for (int input : graph_[id].inputs) {
            if (input <= 0) continue;
            if (inlined_[std::size_t(input)]) collect_inputs(input, domain, values);
            else if (graph_[input].shape == domain) values.insert(input);
        }
    }

    /// Whether a group outside of both reads something of `from` and leads to `to`.
    bool leads_to(int from, int to) {
        std::vector<int> open;
        std::vector<bool> seen(graph_.nodes.size(), false);
        const auto visit = [&](int id) {
            if (!seen[std::size_t(id)]) open.push_back(id);
            seen[std::size_t(id)] = true;
        };
        const auto visit_readers = [&](int id) {
            for (int reader : readers_[std::size_t(id)])
                if (group_of(reader) != from) visit(reader);
        };
        for (int id : group(from).nodes)
            for (int reader : outside_readers(id, from))
                if (group_of(reader) != to) visit(reader);
        while (!open.empty()) {
            const int id = open.back();
            open.pop_back();
            const int at = group_of(id);
            if (at == to) return true;
            if (at >= 0)
                for (int mate : group(at).nodes) visit(mate);
            visit_readers(id);
        }
        return false;
    }
    /// The readers of a node in other groups, seen through what is inlined.
    std::vector<int> outside_readers(int id, int from) const {
        std::vector<int> found;
        for (int reader : readers_[std::size_t(id)]) {
            if (inlined_[std::size_t(reader)]) {
                const std::vector<int> behind = outside_readers(reader, from);
                found.insert(found.end(), behind.begin(), behind.end());
            } else if (group_of(reader) != from) {
                found.push_back(reader);
            }
        }
        return found;
    }

    void drop_empty_groups() {
        std::vector<int> number(fused_.groups.size(), -1);
        std::vector<Group> kept;
        for (std::size_t g = 0; g < fused_.groups.size(); ++g) {
            if (fused_.groups[g].nodes.empty()) continue;
            number[g] = int(kept.size());
            kept.push_back(std::move(fused_.groups[g]));
        }
        fused_.groups = std::move(kept);
        for (int& at : fused_.group_of)
            if (at >= 0) at = number[std::size_t(at)];
    }

    const Graph& graph_;
    const std::vector<bool>& inlined_;
    FusedGraph& fused_;
    std::vector<std::vector<int>> readers_;
};

}  // namespace

void join_row_kernels(const Graph& graph, const std::vector<bool>& inlined, FusedGraph& fused) {
    RowKernels(graph, inlined, fused).run();
}

}  // namespace fovea::fuse
