#include "codegen/emit/cpp/contraction_epilogue.h"

#include <algorithm>

#include "codegen/target/lowering.h"

namespace fovea::emit {

using namespace kernel;

/// Whether elements of a row lie side by side, and rows as far apart from each other.
bool ContractionEpilogue::is_in_rows(const Access& access) const {
    return schedule.columns >= 0 && schedule.rows >= 0 && access.row < 0 &&
           stride_along(access.strides, schedule.columns).is_one() &&
           std::ranges::none_of(access.strides, &Stride::panel);
}

bool ContractionEpilogue::is_of_floats(const Access& access) const {
    return kernel.buffers[std::size_t(access.buffer)].dtype == DType::f32;
}

bool ContractionEpilogue::may_be_long() const {
    const std::vector<AxisId>& axes = as<Contract>(kernel, contract)->axes;
    const Dim& steps = kernel.axes[std::size_t(axes.back())].extent;
    return axes.size() == 1 && (!steps.is_static() || steps.value() >= target::kLongSum);
}

bool ContractionEpilogue::only_stores() const {
    if (stores.size() != 1) return false;
    const Store& store = *as<Store>(kernel, stores[0]);
    return store.value == contract && !store.accumulate && is_in_rows(store.access) &&
           is_of_floats(store.access);
}

Id ContractionEpilogue::added_to() const {
    if (stores.size() != 1) return -1;
    for (AxisId axis : as<Contract>(kernel, contract)->axes)
        if (kernel.axes[std::size_t(axis)].extent.is_static()) return -1;
    const Store& store = *as<Store>(kernel, stores[0]);
    const auto* sum = as<Map>(kernel, store.value);
    if (!sum || sum->function != Elementwise::add || sum->cast_to || store.accumulate) return -1;
    const bool first = sum->operands[0] == contract;
    if (first == (sum->operands[1] == contract)) return -1;
    const Id before = sum->operands[first ? 1 : 0];
    const auto* load = as<Load>(kernel, before);
    const bool plain = load && is_in_rows(store.access) && load->access.row < 0 &&
                       load->access.offset == store.access.offset &&
                       load->access.strides == store.access.strides;
    return plain && is_of_floats(load->access) && is_of_floats(store.access) ? before : -1;
}

std::vector<Access> ContractionEpilogue::tensors() const {
    constexpr std::size_t kMost = 3;
    std::vector<Access> found;
    const auto add = [&](const Access& access) {
        if (found.size() == kMost || !is_in_rows(access) ||
            stride_along(access.strides, schedule.rows).is_zero())
            return;
        const bool is_there = std::ranges::any_of(found, [&](const Access& other) {
            return other.buffer == access.buffer && other.offset == access.offset;
        });
        if (!is_there) found.push_back(access);
    };
    if (schedule.is_stored || schedule.reading != Reading::packed || !may_be_long()) return found;
    for (Id id : stores) add(as<Store>(kernel, id)->access);
    for (Id id : nodes)
        if (const auto* load = as<Load>(kernel, id)) add(load->access);
    return found;
}

}  // namespace fovea::emit
