// The reasons against shards, one after the other.
#include "codegen/choose_shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/graph/id_operands.h"
#include "codegen/kernel/print.h"
#include "codegen/why_not_in_shards.h"

namespace fovea {

namespace {

bool has_sequences(const Shape& shape, Symbol sequences) {
    return std::any_of(shape.begin(), shape.end(),
                       [&](const Dim& dim) { return dim.holds(sequences); });
}

/// Of the sums over sequences, as far as sizes are static.
double floats_of_sums(const Graph& graph, Symbol sequences) {
    double floats = 0;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::output || has_sequences(node.shape, sequences)) continue;
        double size = 1;
        for (const Dim& dim : node.shape) size *= dim.is_static() ? double(dim.value()) : 1;
        floats += size;
    }
    return floats;
}

bool gives_gradients(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::output && node.port.gradient) return true;
    return false;
}

/// What a thread prepares serves all of its shards, though one may have a sequence more.
bool prepares_by_size(const Graph& graph, const fuse::FusedGraph& fused, Symbol sequences) {
    for (const fuse::Group& group : fused.groups) {
        if (!group.prepared) continue;
        for (int id : group.stored) {
            Shape behind = graph[id].shape;
            if (behind.rank() > 0) behind[0] = 1;
            if (has_sequences(behind, sequences)) return true;
        }
    }
    return false;
}

std::string why_not_shards(const Graph& graph, const fuse::FusedGraph& fused,
                           const target::Target& target, const Dim& dim) {
    const Symbol sequences = dim.bare_symbol();
    const target::CpuShards& choices = target.cpu.shards;
    if (target.is_gpu()) return "a GPU's threads wait for each other within a kernel alone";
    if (choices.count < 2) return "cpu.shards.count is 1";
    if (!gives_gradients(graph)) return "it gives no gradients";
    if (!sequences) return "its first input has no symbolic dim in front";
    const double floats = floats_of_sums(graph, sequences);
    if (floats > choices.most_floats)
        return fmt::format("its gradients have {:.0f} floats, more than cpu.shards.most_floats, {}",
                           floats, choices.most_floats);
    if (auto reason = why_not_in_shards(graph, sequences)) return *reason;
    if (prepares_by_size(graph, fused, sequences))
        return "it prepares a value that has its sequences along another axis than the first";
    return {};
}

}  // namespace

plan::Shards choose_shards(const Graph& graph, const fuse::FusedGraph& fused,
                           const target::Target& target) {
    const Dim sequences = sequences_of(graph);
    plan::Shards shards;
    shards.reason = why_not_shards(graph, fused, target, sequences);
    if (!shards.reason.empty()) return shards;
    const target::CpuShards& choices = target.cpu.shards;
    shards.count = choices.count;
    shards.sequences = sequences;
    shards.most_floats = choices.most_floats;
    shards.reason = fmt::format(
        "each thread takes shards of {} through all kernels; as one shard where sums over them "
        "have more than {} floats",
        kernel::text_of(sequences), choices.most_floats);
    return shards;
}

target::Lowering lowering_in_shards(const target::Target& target) {
    target::Lowering lowering = target.lowering;
    lowering.row_blocks = target.cpu.shards.row_blocks;
    lowering.product_blocks = 1;
    lowering.replicated_numbers = 0;  // no thread waits there
    return lowering;
}

}  // namespace fovea
