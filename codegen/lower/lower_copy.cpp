#include "codegen/base/error.h"
#include "codegen/graph/module_names.h"
#include "codegen/lower/group_builder.h"
#include "codegen/lower/lower_group.h"

namespace fovea::lower {

using kernel::Access;
using kernel::AxisId;

namespace {

void copy_elements(GroupBuilder& build, std::vector<AxisId> rows, const Access& from,
                   const Access& to) {
    if (!rows.empty()) rows.pop_back();  // the tile's axis
    build.builder().each(rows, [&] { build.builder().store(to, build.builder().load(from)); });
}

/// Copies `source` (a layout with any factors) to row-major `target`.
LoweredKernel copy_value(const Graph& graph, const fuse::FusedGraph& fused,
                         const fuse::Group& group, Memories& memories, const fuse::Layout& source,
                         int target) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    std::vector<AxisId> axes;
    Access from{.buffer = build.buffer(memories.of(source.base), false),
                .strides = {},
                .offset = source.offset};
    Access to{.buffer = build.buffer(memories.of(target), true), .strides = {}, .offset = Dim(0)};
    const fuse::Layout& result = fused.layouts[std::size_t(target)];
    for (std::size_t i = 0; i < source.dims.size(); ++i) {
        Dim stride = result.dims[i].empty() ? Dim(0) : result.dims[i][0].stride;
        std::vector<kernel::Stride> strides;
        for (std::size_t k = source.dims[i].size(); k-- > 0;) {
            strides.push_back({int(k), stride});
            stride = stride * source.dims[i][k].extent;
        }
        for (std::size_t k = 0; k < source.dims[i].size(); ++k) {
            AxisId axis = build.axis(source.dims[i][k].extent);
            axes.push_back(axis);
            from.strides.push_back({axis, source.dims[i][k].stride});
            to.strides.push_back({axis, strides[strides.size() - 1 - k].stride});
        }
    }
    copy_elements(build, axes, from, to);
    return build.finish("copy");
}

/// Part `input` of a concatenation, which starts at `first` of its axis.
LoweredKernel copy_part(const Graph& graph, const fuse::FusedGraph& fused, const fuse::Group& group,
                        Memories& memories, int input, const Dim& first) {
    GroupBuilder build(graph, fused, group, memories, group.name);
    const Node& node = graph[group.anchor];
    std::vector<AxisId> all = build.axes(graph[input].shape), axes;
    for (AxisId axis : all)
        if (axis != kNoAxis) axes.push_back(axis);
    Access to = build.access(group.anchor, all, true);
    const fuse::Layout& result = fused.layouts[std::size_t(group.anchor)];
    to.offset = to.offset + first * fuse::stride_of(result, node.axis);
    copy_elements(build, axes, build.access(input, all, false), to);
    return build.finish("concat");
}

/// The group of a kernel that lays a weight out in another way, before programs run.
fuse::Group copy_of_weight(const Graph& graph, int parameter, std::string name) {
    return {.form = fuse::Form::copy,
            .nodes = {},
            .stored = {},
            .anchor = parameter,
            .domain = graph[parameter].shape,
            .prepared = true,
            .name = std::move(name)};
}

}  // namespace

std::vector<LoweredKernel> lower_copy(const Graph& graph, const fuse::FusedGraph& fused,
                                      const fuse::Group& group, Memories& memories) {
    const Node& node = graph[group.anchor];
    int input = node.inputs[0];
    if (node.op == Op::concat) {
        const auto base_of = [&](int id) { return fused.layouts[std::size_t(id)].base; };
        std::vector<LoweredKernel> parts;
        Dim first(0);
        for (int part : node.inputs) {
            if (part <= 0) break;
            if (base_of(part) != base_of(group.anchor))
                parts.push_back(copy_part(graph, fused, group, memories, part, first));
            first = first + graph[part].shape[node.axis].without_label();
        }
        return parts;
    }
    const fuse::Layout& from = fused.layouts[std::size_t(input)];
    std::optional<fuse::Layout> source = from;
    if (row_of(node.op).op_class == OpClass::view) source = fuse::viewed(graph, group.anchor, from);
    if (!source) throw InternalError("lower: a view cannot be split into strided axes");
    return {copy_value(graph, fused, group, memories, *source, group.anchor)};
}

LoweredKernel lower_transposed(const Graph& graph, const fuse::FusedGraph& fused, int parameter,
                               int memory, Memories& memories) {
    const std::string path = fuse::underscored(ModuleNames(graph).name(graph[parameter].scope));
    const fuse::Group group =
        copy_of_weight(graph, parameter, path.empty() ? "transpose_weight" : path + "_transposed");
    GroupBuilder build(graph, fused, group, memories, group.name);
    const Shape& shape = graph[parameter].shape;
    AxisId column = build.axis(shape[1]), row = build.axis(shape[0]);
    Access from = build.access(parameter, {row, column}, false);
    const bool pairs = memories[memory].dtype == DType::bf16;
    const auto access = pairs ? paired_access : transposed_access;
    const Access to =
        access(build.buffer(memory, true), shape[0], shape[1], row, column, memories.target());
    std::vector<AxisId> axes;
    for (AxisId axis : {column, row})
        if (axis != kNoAxis) axes.push_back(axis);
    copy_elements(build, axes, from, to);
    return build.finish("transposed copy");
}

LoweredKernel lower_rounded(const Graph& graph, const fuse::FusedGraph& fused, int parameter,
                            Memories& memories) {
    const fuse::Group group = copy_of_weight(graph, parameter, "round_weight");
    GroupBuilder build(graph, fused, group, memories, group.name);
    const std::vector<AxisId> all = build.axes(graph[parameter].shape);
    std::vector<AxisId> axes;
    for (AxisId axis : all)
        if (axis != kNoAxis) axes.push_back(axis);
    const Access from = build.access(parameter, all, false);
    copy_elements(build, axes, from,
                  build.access(build.layout(parameter), memories.rounded(parameter), all, true));
    return build.finish("copy in " + std::string(long_name_of(memories.half())));
}

}  // namespace fovea::lower
