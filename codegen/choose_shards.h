// Which programs run their batch in shards, a thread a shard.
#pragma once

#include "codegen/fuse/fuse.h"
#include "codegen/plan/plan.h"
#include "codegen/target/target.h"

namespace fovea {

/// Chooses for a program by its optimized graph: one that gives gradients, is small, and does the
/// same for each sequence (codegen/why_not_in_shards.h) is cut. The reason is set either way.
plan::Shards choose_shards(const Graph& graph, const fuse::FusedGraph& fused,
                           const target::Target& target);

/// How kernels of such a program are lowered: one thread runs them.
target::Lowering lowering_in_shards(const target::Target& target);

}  // namespace fovea
