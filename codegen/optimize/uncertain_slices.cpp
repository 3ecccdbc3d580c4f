#include "codegen/optimize/uncertain_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/graph/op_def.h"
#include "codegen/graph/scan_function.h"
#include "codegen/optimize/dim_range.h"

namespace fovea {

namespace {

void collect(const Graph& graph, std::vector<UncertainSlice>& found) {
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        if (is_scan(graph, id)) collect(scan_of(graph, id).function->step, found);
        const Node& node = graph[id];
        if (!op_def(node.op).steps) continue;
        const Steps steps = op_def(node.op).steps(node);
        const Dim first = steps.lowest.without_label(), size = steps.size.without_label();
        const Dim extent = graph[node.inputs[0]].shape[steps.axis].without_label();
        if (is_at_most(Dim(0), first) && is_at_most(first, extent - size)) continue;
        const auto is_same = [&](const UncertainSlice& other) {
            return other.first == first && other.size == size && other.extent == extent;
        };
        if (std::any_of(found.begin(), found.end(), is_same)) continue;
        found.push_back({first, size, extent,
                         fmt::format("{}:{}", node.location.file_name(), node.location.line)});
    }
}

}  // namespace

std::vector<UncertainSlice> uncertain_slices(const Graph& graph) {
    std::vector<UncertainSlice> found;
    collect(graph, found);
    return found;
}

}  // namespace fovea
