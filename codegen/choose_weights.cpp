#include "codegen/choose_weights.h"

#include <algorithm>
#include <map>

#include "codegen/base/error.h"

namespace fovea {

namespace {

/// Whether an einsum sums over the last axis of a matrix, its operand `number`, and nothing else.
bool sums_along_rows(const Graph& graph, const Node& node, std::size_t number) {
    const EinsumAxes& axes = graph.einsums[std::size_t(node.attribute)];
    const EinsumAxes::List &own = number ? axes.b : axes.a, &other = number ? axes.a : axes.b;
    if (own.count != 2 || node.inputs[0] == node.inputs[1]) return false;
    const int row = own.label[0], step = own.label[1];
    int summed = 0;
    for (int i = 0; i < other.count; ++i) summed += !axes.out.contains(other.label[std::size_t(i)]);
    return row != step && summed == 1 && other.contains(step) && !axes.out.contains(step) &&
           axes.out.contains(row) && !other.contains(row);
}

bool reads_as_weight(const Graph& graph, const Node& node, int parameter) {
    if (node.op == Op::gather) return node.inputs[0] == parameter && node.inputs[1] != parameter;
    if (node.op != Op::einsum) return false;
    return sums_along_rows(graph, node, node.inputs[1] == parameter ? 1 : 0);
}

}  // namespace

std::optional<std::string> why_not_stored(const Graph& graph, int parameter) {
    const Node& node = graph[parameter];
    if (node.state) return "calls change it";
    if (node.shape.rank() != 2) return "it is no matrix";
    if (!node.shape[1].is_static()) return "the length of its rows is known at run time alone";
    if (node.shape[0].is_one() || node.shape[1].is_one()) return "it is a single row or column";
    for (const Node& reader : graph.nodes) {
        if (std::ranges::find(reader.inputs, parameter) == reader.inputs.end()) continue;
        if (!reads_as_weight(graph, reader, parameter))
            return "an op reads it, " + std::string(row_of(reader.op).name) +
                   ", that is no product along its rows";
    }
    // Scales would take as much memory as they save, and sums of 4 bits, which begin with -8 times
    // that of the activations, would lose more than so few products do.
    constexpr std::int64_t kFewest = 16;
    if (node.shape[1].value() < kFewest) return "its rows are shorter than 16";
    return {};
}

void store_weights(std::vector<ProgramRequest>& requests) {
    const WeightStorage storage = requests[0].weights;
    std::map<std::string, bool> stored;
    for (const ProgramRequest& request : requests) {
        if (!(request.weights == storage))
            throw InternalError("programs of one model differ in how their weights lie");
        if (!storage) continue;
        if (request.gradients != Gradients::none)
            throw UserError("weights of " + text_of(storage) + " are for inference: program " +
                            request.name +
                            " has gradients; leave out the setting `weights` for it");
        for (int id = 1; id < int(request.graph.nodes.size()); ++id) {
            const Node& node = request.graph[id];
            if (node.op != Op::parameter) continue;
            auto [at, fresh] = stored.try_emplace(request.graph.path(node.scope), true);
            at->second = at->second && !why_not_stored(request.graph, id);
        }
    }
    if (!storage) return;
    for (ProgramRequest& request : requests)
        for (Node& node : request.graph.nodes) {
            if (node.op != Op::parameter || !stored.at(request.graph.path(node.scope))) continue;
            node.axis = storage.bits;
            node.stride = storage.group;
        }
}

}  // namespace fovea
