#include "codegen/kernel/analysis/in_place.h"

#include <algorithm>
#include <vector>

namespace fovea::kernel {

namespace {

bool is_same_place(const Access& a, const Access& b) {
    return a.row < 0 && b.row < 0 && a.strides == b.strides && a.offset == b.offset;
}

}  // namespace

bool may_lie_over(const Kernel& kernel, int to, int from) {
    if (kernel.form != Form::rows && kernel.form != Form::contraction) return false;
    const Access* stored = nullptr;
    std::vector<const Access*> loaded;
    std::vector<bool> of_from(kernel.nodes.size(), false);
    for (Id id = 0; id < int(kernel.nodes.size()); ++id) {
        const bool sums = as<Reduce>(kernel, id) || as<Contract>(kernel, id);
        if (sums && kernel.form == Form::rows) return false;
        const auto* load = as<Load>(kernel, id);
        bool depends = load && load->access.buffer == from;
        if (depends) loaded.push_back(&load->access);
        for (const Id operand : operands_of(kernel, id))
            depends = depends || (operand >= 0 && of_from[std::size_t(operand)]);
        of_from[std::size_t(id)] = depends;
        const auto* store = as<Store>(kernel, id);
        if (!store) continue;
        if (stored && depends) return false;
        if (store->access.buffer != to) continue;
        if (stored || store->accumulate) return false;
        stored = &store->access;
    }
    return stored && std::ranges::all_of(loaded, [&](const Access* access) {
               return is_same_place(*access, *stored);
           });
}

}  // namespace fovea::kernel
