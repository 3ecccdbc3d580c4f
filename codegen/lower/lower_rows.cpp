#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::AxisId;

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
