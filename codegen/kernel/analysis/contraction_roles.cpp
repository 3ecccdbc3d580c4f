#include "codegen/kernel/analysis/contraction_roles.h"

#include <algorithm>

#include "codegen/base/error.h"

namespace fovea::kernel {
namespace {

bool stride_is_one(const Access& access, AxisId axis) {
    return stride_along(access.strides, axis).is_one();
}

/// The axes of a tile without the contracted ones.
std::vector<AxisId> outer_axes(const Kernel& kernel, Id id, const std::vector<AxisId>& contracted) {
    std::vector<AxisId> axes = kernel.nodes[std::size_t(id)].axes;
    std::erase_if(axes, [&](AxisId axis) {
        return std::find(contracted.begin(), contracted.end(), axis) != contracted.end();
    });
    return axes;
}

}  // namespace

ContractionRoles contraction_roles(const Kernel& kernel, Id wanted) {
    const Contract* contract = nullptr;
    const Store* store = nullptr;
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (auto found = as<Contract>(kernel, id); found && (wanted < 0 || wanted == id))
            contract = found;
        if (auto found = as<Store>(kernel, id); found && !store) store = found;
    }
    if (!contract || !store || !as<Load>(kernel, contract->a) || !as<Load>(kernel, contract->b))
        throw InternalError("kernel " + kernel.name + " is not a stored contraction of two loads");
    ContractionRoles roles;
    roles.a = contract->a, roles.b = contract->b;
    std::vector<AxisId> i = outer_axes(kernel, roles.a, contract->axes);
    std::vector<AxisId> j = outer_axes(kernel, roles.b, contract->axes);
    for (AxisId axis : i)
        if (std::find(j.begin(), j.end(), axis) != j.end())
            throw InternalError("kernel " + kernel.name + ": axis " +
                                kernel.axes[std::size_t(axis)].name +
                                " is in both operands; make it an `each` axis");
    const auto take = [&](std::vector<AxisId>& from, const Access& like) {
        for (AxisId axis : from)
            if (roles.columns < 0 && stride_is_one(like, axis)) roles.columns = axis;
        return roles.columns >= 0;
    };
    // Panels are read along the columns, wherever these are stored.
    const auto take_panels = [&](const std::vector<AxisId>& from, const Access& operand) {
        for (const Stride& stride : operand.strides)
            if (stride.panel && std::find(from.begin(), from.end(), stride.axis) != from.end())
                roles.columns = stride.axis;
        return roles.columns >= 0;
    };
    // So are weights that lie as whole numbers, in panels of their rows.
    const auto take_stored = [&](const std::vector<AxisId>& from, const Access& operand) {
        if (from.size() == 1 && kernel.buffers[std::size_t(operand.buffer)].storage)
            roles.columns = from[0];
        return roles.columns >= 0;
    };
    bool columns_in_a = false;
    if (!take_stored(j, as<Load>(kernel, roles.b)->access))
        columns_in_a = take_stored(i, as<Load>(kernel, roles.a)->access);
    if (roles.columns < 0 && !take_panels(j, as<Load>(kernel, roles.b)->access))
        columns_in_a = take_panels(i, as<Load>(kernel, roles.a)->access);
    if (roles.columns < 0 && !take(j, store->access)) columns_in_a = take(i, store->access);
    if (roles.columns < 0 && !take(j, as<Load>(kernel, roles.b)->access))
        columns_in_a = take(i, as<Load>(kernel, roles.a)->access);
    if (roles.columns < 0 && (!j.empty() || !i.empty())) {
        columns_in_a = j.empty();
        roles.columns = (columns_in_a ? i : j).back();
    }
    if (columns_in_a) std::swap(i, j), std::swap(roles.a, roles.b);
    std::erase(j, roles.columns);
    if (!i.empty()) roles.rows = i.back(), i.pop_back();
    roles.points = i;
    roles.points.insert(roles.points.end(), j.begin(), j.end());
    return roles;
}

}  // namespace fovea::kernel
