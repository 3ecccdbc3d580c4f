// The fused graph as text.
#include <fmt/format.h>

#include <algorithm>

#include <iterator>

#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

namespace {

std::string label(const Graph& graph, int id) {
    const Node& node = graph[id];
    std::string_view name =
        node.op == Op::elementwise ? row_of(node.function).name : row_of(node.op).name;
    if (node.op == Op::reduce) name = node.reduction == Reduction::sum ? "sum" : "max";
    return fmt::format("%{} {}", id, name);
}

}  // namespace

std::string print(const Graph& graph, const FusedGraph& fused) {
    std::string text;
    auto out = std::back_inserter(text);
    for (std::size_t g = 0; g < fused.groups.size(); ++g) {
        const Group& group = fused.groups[g];
        Text domain;
        domain << group.domain;
        fmt::format_to(out, "group {} {} : {} over {}{}\n", g, group.name, name_of(group.form),
                       domain.view(), group.prepared ? ", prepared" : "");
        for (int id : group.nodes) {
            Text shape;
            shape << graph[id].shape;
            bool stored =
                std::find(group.stored.begin(), group.stored.end(), id) != group.stored.end();
            fmt::format_to(out, "  {}{} {}\n", stored ? "* " : "  ", label(graph, id),
                           shape.view());
        }
    }
    for (const Refusal& refusal : fused.refusals)
        fmt::format_to(out, "not fused: {} into {}: {}\n", label(graph, refusal.node),
                       label(graph, refusal.reader), refusal.reason);
    return text;
}

}  // namespace fovea::fuse
