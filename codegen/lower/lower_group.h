// The lowering of each form of group to kernels.
#pragma once

#include <vector>

#include "codegen/lower/memories.h"

namespace fovea::lower {

/// Elementwise ops and reductions over the last axis: a loop over rows, a tile along the row.
LoweredKernel lower_rows(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories);
/// The same with sums over rows: their parts, one for each block of rows, then the sums.
std::vector<LoweredKernel> lower_row_sums(const Graph& graph, const fuse::FusedGraph& fused,
                                          const fuse::Group& group, Memories& memories);
/// A reduction over other axes: lanes along the last axis, the reduced axes in order.
LoweredKernel lower_columns(const Graph& graph, const fuse::FusedGraph& fused,
                            const fuse::Group& group, Memories& memories);
/// An einsum and its epilogue; where results are few and the summed axis is long, split K: partial
/// sums, one for each block, then their sum.
std::vector<LoweredKernel> lower_contraction(const Graph& graph, const fuse::FusedGraph& fused,
                                             const fuse::Group& group, Memories& memories);
/// A table of zeros, then rows added to it in the order of the ids.
std::vector<LoweredKernel> lower_scatter(const Graph& graph, const fuse::FusedGraph& fused,
                                         const fuse::Group& group, Memories& memories);
/// A fused attention: its output and the statistics of its rows.
LoweredKernel lower_attention(const Graph& graph, const fuse::FusedGraph& fused,
                              const fuse::Group& group, Memories& memories);
/// The gradients of a fused attention: one kernel, or one for each side (`target::Lowering`).
std::vector<LoweredKernel> lower_attention_gradient(const Graph& graph,
                                                    const fuse::FusedGraph& fused,
                                                    const fuse::Group& group, Memories& memories);
/// A loss without logits and its gradients: a loop over chunks of tokens.
LoweredKernel lower_loss(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories);
/// A scan over steps.
LoweredKernel lower_scan(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories);
/// A rearrangement, slice or output by itself; one kernel for each part of a concatenation.
std::vector<LoweredKernel> lower_copy(const Graph& graph, const fuse::FusedGraph& fused,
                                      const fuse::Group& group, Memories& memories);
/// The copy of a parameter as bfloat16 or float16.
LoweredKernel lower_rounded(const Graph& graph, const fuse::FusedGraph& fused, int parameter,
                            Memories& memories);
/// The transposed copy of a matrix parameter: of bfloat16 in pairs, of float16, or as it is.
LoweredKernel lower_transposed(const Graph& graph, const fuse::FusedGraph& fused, int parameter,
                               int memory, Memories& memories);

}  // namespace fovea::lower
