#include <algorithm>

#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::Access;
using kernel::AxisId;

namespace {

/// [row block, column] of the parts of a sum over rows.
Access part_access(GroupBuilder& build, int sum, AxisId blocks, AxisId column, bool written) {
    const Dim columns = build.graph()[sum].shape[-1].without_label();
    Memories& memories = build.memories();
    return {.buffer = build.buffer(memories.parts_of(sum, {memories.target().row_blocks, columns}),
                                   written),
            .strides = {{blocks, columns}, {column, Dim(1)}}};
}

/// The rows, and the parts of the sums over them: no row stands by itself.
LoweredKernel lower_row_parts(const Graph& graph, const fuse::FusedGraph& fused,
                              const fuse::Group& group, Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    kernel::Builder& b = build.builder();
    const std::vector<AxisId> domain = build.axes(group.domain);
    const AxisId column = domain.back(), blocks = b.axis("blocks", memories.target().row_blocks);
    std::vector<AxisId> rows;
    for (AxisId axis : domain)
        if (axis != kNoAxis && axis != column) rows.push_back(axis);
    build.set_domain(domain);
    build.store_all();
    for (int sum : group.sums) {
        kernel::Id term = build.value(graph[sum].inputs[0]);
        std::vector<AxisId> missing;
        for (AxisId axis : domain) {
            const std::vector<AxisId>& own = b.kernel().nodes[std::size_t(term)].axes;
            if (axis != kNoAxis && std::find(own.begin(), own.end(), axis) == own.end())
                missing.push_back(axis);
        }
        if (!missing.empty()) term = b.mul(term, b.fill(1, missing));
        b.store(part_access(build, sum, blocks, column, true), b.sum_by_block(term, rows, blocks));
    }
    return build.finish(describe(graph, group));
}

/// The parts of each sum over rows together.
LoweredKernel lower_row_totals(const Graph& graph, const fuse::FusedGraph& fused,
                               const fuse::Group& group, Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name + "_total");
    kernel::Builder& b = build.builder();
    const AxisId column = build.axis(group.domain[-1]),
                 blocks = b.axis("blocks", memories.target().row_blocks);
    b.par(column, [&] {
        for (int sum : group.sums) {
            const kernel::Id part = b.load(part_access(build, sum, blocks, column, false));
            std::vector<AxisId> to(std::size_t(graph[sum].shape.rank()), kNoAxis);
            to.back() = column;
            b.store(build.access(sum, to, true), b.sum(part, {blocks}));
        }
    });
    return build.finish("the sums of all blocks of rows");
}

}  // namespace

std::vector<LoweredKernel> lower_row_sums(const Graph& graph, const fuse::FusedGraph& fused,
                                          const fuse::Group& group, Memories& memories) {
    return {lower_row_parts(graph, fused, group, memories),
            lower_row_totals(graph, fused, group, memories)};
}

LoweredKernel lower_rows(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    std::vector<AxisId> domain = build.axes(group.domain), rows;
    build.set_domain(domain);
    for (AxisId axis : domain)
        if (axis != kNoAxis) rows.push_back(axis);
    bool tile_is_last = !domain.empty() && domain.back() != kNoAxis;
    if (!rows.empty() && (tile_is_last || !group.reduces)) rows.pop_back();  // the tile's axis
    build.builder().each(rows, [&] { build.store_all(); });
    return build.finish(describe(graph, group));
}

LoweredKernel lower_columns(const Graph& graph, const fuse::FusedGraph& fused,
                            const fuse::Group& group, Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    std::vector<AxisId> domain = build.axes(group.domain), outer, lanes;
    build.set_domain(domain);
    int reduced = graph[group.anchor].axis;
    for (int i = 0; i < group.domain.rank(); ++i) {
        if (domain[std::size_t(i)] == kNoAxis || (reduced >> i & 1)) continue;
        outer.push_back(domain[std::size_t(i)]);
    }
    if (!outer.empty()) {
        lanes.push_back(outer.back());
        outer.pop_back();
    }
    build.builder().each(outer, [&] { build.builder().par(lanes, [&] { build.store_all(); }); });
    return build.finish(describe(graph, group));
}

}  // namespace fovea::lower
