// Values that cost less to compute again than to store.
#include <algorithm>

#include "codegen/fuse/fuse.h"
#include "codegen/graph/op_def.h"

namespace fovea::fuse {

namespace {

bool depends_on_inlined_only(const Graph& graph, int id, const std::vector<bool>& inlined) {
    for (int input : graph[id].inputs)
        if (input > 0 && !inlined[std::size_t(input)]) return false;
    return true;
}

bool is_inlined(const Graph& graph, int id, const std::vector<bool>& inlined) {
    const Node& node = graph[id];
    const Cost cost = cost_of(node);
    if (cost == Cost::none || op_def(node.op).draws) return true;
    if (node.op != Op::elementwise) return false;
    const bool alias =
        node.function == Elementwise::identity && node.dtype == graph[node.inputs[0]].dtype;
    if (alias || node.dtype == DType::boolean || node.dtype == DType::i32) return true;
    const bool scalar = node.shape.rank() == 0;
    return (scalar || cost != Cost::many) && depends_on_inlined_only(graph, id, inlined);
}

/// What a value of the forward pass can be made of again: itself, or one value of its shape that is
/// stored, with others by row or column put to it; and what that costs. A product is stored with
/// what finishes it.
struct Origin {
    int id = 0;
    int costly = 0;  // functions that cost more than one instruction
    bool alone = true;  // of that value and numbers
};

class Origins {
  public:
    Origins(const Graph& graph, const std::vector<bool>& inlined)
        : graph_(graph), inlined_(inlined), readers_(readers_of(graph)) {
        origins_.resize(graph.nodes.size());
        for (int id = 1; id < int(graph.nodes.size()); ++id) origins_[std::size_t(id)] = find(id);
    }

    /// Whether to read its origin costs the backward pass no more than to read the value: that is
    /// one instruction away, or at most one function of it alone, a gate of a product's sums say,
    /// which the backward pass reads as well.
    bool is_made_again(int id, const std::vector<bool>& made_again) const {
        const Origin& origin = origins_[std::size_t(id)];
        if (origin.id == id) return false;
        if (is_one_instruction(id)) return true;
        return origin.costly <= 1 && origin.alone && is_stored_product(origin.id, made_again);
    }
    const std::vector<int>& readers(int id) const { return readers_[std::size_t(id)]; }

  private:
    Origin find(int id) const {
        const Node& node = graph_[id];
        const Origin own{.id = id};
        if (node.op != Op::elementwise || node.backward || node.dtype != DType::f32 ||
            node.shape.rank() == 0 || finishes_product(graph_, readers_, id))
            return own;
        const Cost cost = cost_of(node);
        if (cost != Cost::one && cost != Cost::few && cost != Cost::many) return own;
        Origin found{.id = 0, .costly = cost == Cost::many};
        int whole = 0;
        for (int input : node.inputs) {
            if (input <= 0) continue;
            const Node& from = graph_[input];
            if (from.dtype != DType::f32) return own;
            const bool drawn = inlined_[std::size_t(input)] && from.op != Op::elementwise;
            if (!(from.shape == node.shape) || drawn) {
                found.alone = found.alone && from.op == Op::constant;
                continue;
            }
            const Origin& its = origins_[std::size_t(input)];
            if (whole++ && its.id != found.id) return own;
            found.id = its.id;
            found.costly += its.costly;
            found.alone = found.alone && its.alone;
        }
        return whole ? found : own;
    }
    /// Of one value in its shape, which is stored.
    bool is_one_instruction(int id) const {
        const Node& node = graph_[id];
        int whole = 0;
        for (int input : node.inputs) {
            if (input <= 0) continue;
            const Node& from = graph_[input];
            const bool drawn = inlined_[std::size_t(input)] && from.op != Op::elementwise;
            whole += from.shape == node.shape && !drawn;
        }
        return whole == 1 && cost_of(node) == Cost::one;
    }
    /// A product, finished or not, that the backward pass reads in any case.
    bool is_stored_product(int id, const std::vector<bool>& made_again) const {
        return (graph_[id].op == Op::einsum || finishes_product(graph_, readers_, id)) &&
               std::ranges::any_of(readers(id), [&](int reader) {
                   return graph_[reader].backward || made_again[std::size_t(reader)];
               });
    }

    const Graph& graph_;
    const std::vector<bool>& inlined_;
    std::vector<std::vector<int>> readers_;
    std::vector<Origin> origins_;
};

void add_made_again(const Graph& graph, std::vector<bool>& inlined) {
    const Origins origins(graph, inlined);
    std::vector<bool> made_again(graph.nodes.size(), false);
    const auto note = [&](int id) {
        const std::vector<int>& all = origins.readers(id);
        const bool for_backward = std::any_of(all.begin(), all.end(), [&](int reader) {
            return graph[reader].backward || made_again[std::size_t(reader)];
        });
        if (for_backward && origins.is_made_again(id, made_again))
            made_again[std::size_t(id)] = true;
    };
    // Twice: what is one instruction away shows which sums are stored, for functions before it.
    for (int turn = 0; turn < 2; ++turn)
        for (int id = int(graph.nodes.size()) - 1; id > 0; --id) note(id);
    for (std::size_t id = 1; id < inlined.size(); ++id) inlined[id] = inlined[id] || made_again[id];
}

}  // namespace

bool reads_memory(const Graph& graph, int reader) {
    const OpClass op_class = row_of(graph[reader].op).op_class;
    return looks_up(graph[reader]) ||
           (op_class != OpClass::elementwise && op_class != OpClass::reduction);
}

std::vector<bool> inlined_nodes(const Graph& graph, bool enabled) {
    std::vector<bool> inlined(graph.nodes.size(), false);
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        inlined[std::size_t(id)] = is_inlined(graph, id, inlined);
    if (enabled) add_made_again(graph, inlined);
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        const bool from_memory = reads_memory(graph, id);
        for (int input : graph[id].inputs)
            if (input > 0 && from_memory) inlined[std::size_t(input)] = false;
    }
    return inlined;
}

bool finishes_product(const Graph& graph, const std::vector<std::vector<int>>& readers, int id) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise) return false;
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](int input) {
        if (input <= 0 || !(graph[input].shape == node.shape)) return false;
        if (readers[std::size_t(input)].size() > 1) return false;
        return graph[input].op == Op::einsum || finishes_product(graph, readers, input);
    });
}

std::vector<std::vector<int>> readers_of(const Graph& graph) {
    std::vector<std::vector<int>> readers(graph.nodes.size());
    for (int id = 1; id < int(graph.nodes.size()); ++id)
        for (int input : graph[id].inputs)
            if (input > 0 &&
                (readers[std::size_t(input)].empty() || readers[std::size_t(input)].back() != id))
                readers[std::size_t(input)].push_back(id);
    return readers;
}

}  // namespace fovea::fuse
