#include "codegen/kernel/analysis/row_axes.h"

#include <algorithm>

namespace fovea::kernel {

namespace {

/// Takes the stores of sums over rows out of the nodes: passes add to them.
void find_block_sums(const Kernel& kernel, const LoopNest& nest, RowAxes& result) {
    for (Id id : nest.nodes) {
        auto store = as<Store>(kernel, id);
        auto sum = store ? as<Reduce>(kernel, store->value) : nullptr;
        if (!sum || sum->blocks < 0) {
            result.nodes.push_back(id);
            continue;
        }
        result.sums.push_back({store->value, id});
        result.rows = sum->axes;
        result.blocks = sum->blocks;
    }
}

int unit_strides(const Kernel& kernel, const std::vector<Id>& nodes, AxisId axis) {
    int count = 0;
    const auto add = [&](const Access& access) {
        for (const Stride& stride : access.strides)
            count += stride.axis == axis && stride.stride.is_one();
    };
    for (Id id : nodes) {
        if (auto load = as<Load>(kernel, id)) add(load->access);
        if (auto store = as<Store>(kernel, id)) add(store->access);
    }
    return count;
}

}  // namespace

std::vector<AxisId> RowAxes::across() const {
    std::vector<AxisId> result = inner;
    std::erase(result, along);
    return result;
}

RowAxes find_row_axes(const Kernel& kernel, const LoopNest& nest) {
    RowAxes result;
    find_block_sums(kernel, nest, result);
    result.inner = nest.free;
    std::erase_if(result.inner, [&](AxisId axis) {
        return axis == result.blocks ||
               std::find(result.rows.begin(), result.rows.end(), axis) != result.rows.end();
    });
    if (result.inner.empty()) return result;
    result.along =
        *std::max_element(result.inner.begin(), result.inner.end(), [&](AxisId a, AxisId b) {
            return unit_strides(kernel, result.nodes, a) < unit_strides(kernel, result.nodes, b);
        });
    return result;
}

}  // namespace fovea::kernel
