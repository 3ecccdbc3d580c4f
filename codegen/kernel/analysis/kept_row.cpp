#include "codegen/kernel/analysis/kept_row.h"

#include <algorithm>

namespace fovea::kernel {

namespace {

/// The only store among the nodes, if nothing is reduced or drawn.
const Store* lone_store(const Kernel& kernel, const std::vector<Id>& nodes) {
    const Store* store = nullptr;
    for (Id id : nodes) {
        if (as<Reduce>(kernel, id) || as<Random>(kernel, id)) return nullptr;
        const auto* other = as<Store>(kernel, id);
        if (store && other) return nullptr;
        if (other) store = other;
    }
    return store;
}

/// What a cast to `type` is made of, or the value itself. A half that is widened and rounded again
/// stays as it is.
Id before_cast(const Kernel& kernel, Id id, DType type) {
    const Map* map = as<Map>(kernel, id);
    return map && map->cast_to == type ? map->operands[0] : id;
}

bool are_same_elements(const Access& a, const Access& b) {
    return a.strides == b.strides && a.offset == b.offset && a.row < 0 && b.row < 0;
}

bool has_axis(const Kernel& kernel, Id id, AxisId axis) {
    const std::vector<AxisId>& axes = kernel.nodes[std::size_t(id)].axes;
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Whether the row's condition picks one position, and which.
void find_position(const Kernel& kernel, KeptRow& row) {
    const Map* equal = as<Map>(kernel, row.replaced);
    if (!equal || equal->function != Elementwise::eq) return;
    for (std::size_t i : {0, 1}) {
        const Index* index = as<Index>(kernel, equal->operands[i]);
        const Id other = equal->operands[1 - i];
        if (!index || kernel.nodes[std::size_t(other)].dtype != i32) continue;
        if (has_axis(kernel, other, index->axis)) continue;
        row.axis = index->axis;
        row.position = other;
    }
}

}  // namespace

std::optional<KeptRow> find_kept_row(const Kernel& kernel, const std::vector<Id>& nodes,
                                     AxisId lane) {
    const Store* store = lone_store(kernel, nodes);
    if (!store || store->accumulate) return std::nullopt;
    const auto dtype = [&](const Access& access) {
        return kernel.buffers[std::size_t(access.buffer)].dtype;
    };
    const DType type = dtype(store->access);
    const Map* choice =
        as<Map>(kernel, is_half(type) ? before_cast(kernel, store->value, type) : store->value);
    if (!choice || choice->function != Elementwise::where) return std::nullopt;
    const Id old = choice->operands[2];
    const Load* kept = as<Load>(kernel, is_half(type) ? before_cast(kernel, old, f32) : old);
    if (!kept || !are_same_elements(kept->access, store->access)) return std::nullopt;
    if (dtype(kept->access) != type) return std::nullopt;
    if (has_axis(kernel, choice->operands[0], lane)) return std::nullopt;
    KeptRow row{choice->operands[0], &kept->access, &store->access};
    find_position(kernel, row);
    return row;
}

}  // namespace fovea::kernel
