#include "codegen/fuse/fuse.h"

namespace fovea::fuse {

std::string_view name_of(Form form) {
    switch (form) {
        case Form::rows: return "rows";
        case Form::columns: return "columns";
        case Form::contract: return "contract";
        case Form::scatter: return "scatter";
        case Form::attention: return "attention";
        case Form::attention_gradient: return "attention gradient";
        case Form::loss: return "loss";
        case Form::scan: return "scan";
        case Form::copy: return "copy";
    }
    return "?";
}

FusedGraph fuse(const Graph& graph, bool enabled) {
    std::vector<bool> inlined = inlined_nodes(graph, enabled);
    FusedGraph fused = group_nodes(graph, inlined, enabled);
    fused.enabled = enabled;
    if (enabled) join_row_kernels(graph, inlined, fused);
    place_values(graph, inlined, fused);
    order_groups(graph, inlined, fused);
    return fused;
}

}  // namespace fovea::fuse
