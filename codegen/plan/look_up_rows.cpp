#include "codegen/plan/look_up_rows.h"

#include <algorithm>

namespace fovea::plan {

namespace {

/// What a node reads or writes, or null.
const kernel::Access* access_of(const kernel::Node& node) {
    if (const auto* load = std::get_if<kernel::Load>(&node.operation)) return &load->access;
    if (const auto* store = std::get_if<kernel::Store>(&node.operation)) return &store->access;
    return nullptr;
}

}  // namespace

bool can_look_up(const kernel::Kernel& kernel, std::size_t buffer) {
    const kernel::Buffer& table = kernel.buffers[buffer];
    if (kernel.form != kernel::Form::rows || table.dtype != DType::f32 || table.written ||
        table.optional || table.storage)
        return false;
    return std::ranges::all_of(kernel.nodes, [&](const kernel::Node& node) {
        const kernel::Access* const access = access_of(node);
        return !access || access->buffer != int(buffer) || access->row >= 0;
    });
}

bool looks_up_rows(const Model& model) {
    return std::ranges::any_of(model.kernels, [](const kernel::Kernel& kernel) {
        return std::ranges::any_of(kernel.buffers, &kernel::Buffer::looked_up);
    });
}

}  // namespace fovea::plan
