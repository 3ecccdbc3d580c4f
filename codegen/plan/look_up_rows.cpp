#include "codegen/plan/look_up_rows.h"

#include <algorithm>

namespace fovea::plan {

bool can_look_up(const kernel::Kernel& kernel, std::size_t buffer) {
    const kernel::Buffer& table = kernel.buffers[buffer];
    if (kernel.form != kernel::Form::rows || table.dtype != DType::f32 || table.written ||
        table.optional || table.storage)
        return false;
    for (kernel::Id id = 0; id < kernel::Id(kernel.nodes.size()); ++id) {
        const kernel::Access* const access = kernel::access_of(kernel, id);
        if (access && access->buffer == int(buffer) && access->row < 0) return false;
    }
    return true;
}

bool looks_up_rows(const Model& model) {
    return std::ranges::any_of(model.kernels, [](const kernel::Kernel& kernel) {
        return std::ranges::any_of(kernel.buffers, &kernel::Buffer::looked_up);
    });
}

}  // namespace fovea::plan
