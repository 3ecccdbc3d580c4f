#include "codegen/lower/lower.h"

#include "codegen/kernel/rewrites/collapse_axes.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

namespace {

std::vector<LoweredKernel> lower_group(const Graph& graph, const fuse::FusedGraph& fused,
                                       const fuse::Group& group, Memories& memories) {
    switch (group.form) {
        case fuse::Form::rows:
            if (!group.sums.empty()) return lower_row_sums(graph, fused, group, memories);
            return {lower_rows(graph, fused, group, memories)};
        case fuse::Form::columns: return {lower_columns(graph, fused, group, memories)};
        case fuse::Form::contract: return lower_contraction(graph, fused, group, memories);
        case fuse::Form::scatter: return lower_scatter(graph, fused, group, memories);
        case fuse::Form::attention: return {lower_attention(graph, fused, group, memories)};
        case fuse::Form::attention_gradient:
            return lower_attention_gradient(graph, fused, group, memories);
        case fuse::Form::loss: return {lower_loss(graph, fused, group, memories)};
        case fuse::Form::scan: return {lower_scan(graph, fused, group, memories)};
        case fuse::Form::copy: return lower_copy(graph, fused, group, memories);
    }
    return {};
}

}  // namespace

Lowered lower(const Graph& graph, const fuse::FusedGraph& fused, const target::Lowering& target,
              bool tf32) {
    Memories memories(graph, fused, target, tf32);
    Lowered lowered;
    for (const fuse::Group& group : fused.groups)
        for (LoweredKernel& kernel : lower_group(graph, fused, group, memories))
            lowered.kernels.push_back(std::move(kernel));
    std::vector<LoweredKernel> copies;
    for (int parameter : std::vector<int>(memories.transposed_parameters()))
        copies.push_back(
            lower_transposed(graph, fused, parameter, memories.transposed(parameter), memories));
    for (int parameter : std::vector<int>(memories.transposed_halves_parameters()))
        copies.push_back(lower_transposed(graph, fused, parameter,
                                          memories.transposed_halves(parameter), memories));
    for (int parameter : std::vector<int>(memories.paired_parameters()))
        copies.push_back(
            lower_transposed(graph, fused, parameter, memories.paired(parameter), memories));
    for (int parameter : std::vector<int>(memories.rounded_parameters()))
        copies.push_back(lower_rounded(graph, fused, parameter, memories));
    lowered.kernels.insert(lowered.kernels.begin(), copies.begin(), copies.end());
    for (LoweredKernel& kernel : lowered.kernels) kernel::collapse_axes(kernel.kernel);
    lowered.memories = memories.take();
    return lowered;
}

}  // namespace fovea::lower
