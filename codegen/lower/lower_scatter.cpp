#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::Access;
using kernel::AxisId;

namespace {

LoweredKernel zero_fill(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                        Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name + "_zero");
    std::vector<AxisId> all = build.axes(graph[group.anchor].shape), axes;
    for (AxisId axis : all)
        if (axis != kNoAxis) axes.push_back(axis);
    Access to = build.access(group.anchor, all, true);
    if (!axes.empty()) axes.pop_back();
    build.builder().each(axes, [&] { build.builder().store(to, build.builder().constant(0)); });
    return build.finish("zeros");
}

/// Extent and strides of the ids' dims taken as one axis, when memory allows it.
struct Flat {
    Dim extent{1}, of_ids{0}, of_values{0};
    bool possible = true;
};

Flat flatten(const fuse::Layout& ids, const fuse::Layout& values, const Shape& shape) {
    Flat flat;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        if (shape[i].is_one()) continue;
        Dim of_ids = fuse::stride_of(ids, i), of_values = fuse::stride_of(values, i);
        if (flat.extent.is_one()) {
            flat.of_ids = of_ids;
            flat.of_values = of_values;
        } else {
            flat.possible = flat.possible && of_ids == flat.of_ids * flat.extent &&
                            of_values == flat.of_values * flat.extent;
        }
        flat.extent = flat.extent * shape[i].without_label();
    }
    return flat;
}

LoweredKernel add_rows(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                       Memories& memories) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    kernel::Builder& b = build.builder();
    const Node& node = graph[group.anchor];
    int values = node.inputs[0], ids = node.inputs[1];
    int rank = graph[ids].shape.rank();
    Flat flat = flatten(build.layout(ids), build.layout(values), graph[ids].shape);
    Shape row_shape = graph[ids].shape;
    if (flat.possible) row_shape = {flat.extent};
    std::vector<AxisId> rows = build.axes(row_shape), columns, seq;
    for (int i = rank; i < graph[values].shape.rank(); ++i)
        columns.push_back(build.axis(graph[values].shape[i]));
    for (AxisId axis : rows)
        if (axis != kNoAxis) seq.push_back(axis);

    auto access = [&](int id, const Dim& flat_stride, bool with_columns) {
        if (!flat.possible) {
            std::vector<AxisId> all = rows;
            if (with_columns) all.insert(all.end(), columns.begin(), columns.end());
            return build.access(id, all, false);
        }
        std::vector<AxisId> all(std::size_t(rank), kNoAxis);
        if (with_columns) all.insert(all.end(), columns.begin(), columns.end());
        Access result = build.access(id, all, false);
        if (!seq.empty()) result.strides.push_back({seq[0], flat_stride});
        return result;
    };
    Access from_ids = access(ids, flat.of_ids, false),
           from_values = access(values, flat.of_values, true);
    std::vector<AxisId> into = columns;
    into.insert(into.begin(), kNoAxis);
    Access to = build.access(group.anchor, into, true);
    to.row_stride = fuse::stride_of(build.layout(group.anchor), 0);

    std::vector<AxisId> lanes;
    for (AxisId axis : columns)
        if (axis != kNoAxis) lanes.push_back(axis);
    auto add_row = [&] {
        to.row = b.load(from_ids);
        b.accumulate(to, b.load(from_values));
    };
    auto in_order = [&](auto&& self, std::size_t i) -> void {
        if (i == seq.size()) return add_row();
        b.seq(seq[i], [&] { self(self, i + 1); });
    };
    std::vector<AxisId> apart;
    if (seq.empty() && lanes.size() > 1) {  // a row alone, whose columns no row has in common
        apart.assign(lanes.begin(), lanes.end() - 1);
        lanes.erase(lanes.begin(), lanes.end() - 1);
    }
    b.each(apart, [&] { b.par(lanes, [&] { in_order(in_order, 0); }); });
    return build.finish("rows added to the table by id");
}

}  // namespace

std::vector<LoweredKernel> lower_scatter(const Graph& graph, const fuse::FusedGraph& fused,
                                         const fuse::Group& group, Memories& memories) {
    LoweredKernel rows = add_rows(graph, fused, group, memories);
    if (graph[group.anchor].inputs[2] > 0) return {rows};  // its memory holds the table
    return {zero_fill(graph, fused, group, memories), rows};
}

}  // namespace fovea::lower
