// Flattens the loops: a value of an outer block is a value of the innermost one, too.
#include "codegen/kernel/analysis/loop_nest.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"

namespace fovea::kernel {

namespace {

void flatten(const Kernel& kernel, const std::vector<Id>& block, LoopNest& nest) {
    int loops = 0;
    for (Id id : block) {
        auto loop = as<Loop>(kernel, id);
        if (!loop) {
            nest.nodes.push_back(id);
            if (!as<Contract>(kernel, id)) continue;
            if (nest.contract >= 0) nest.before.push_back(nest.contract);
            nest.contract = id;
            continue;
        }
        if (++loops > 1)
            throw InternalError("kernel " + kernel.name + ": two loops side by side have no form");
        (loop->kind == LoopKind::each  ? nest.each
         : loop->kind == LoopKind::par ? nest.par
                                       : nest.seq)
            .push_back(loop->axis);
        flatten(kernel, loop->body, nest);
    }
}

}  // namespace

LoopNest loop_nest(const Kernel& kernel) {
    LoopNest nest;
    flatten(kernel, kernel.body, nest);
    std::set<AxisId> free;
    for (Id id : nest.nodes)
        for (AxisId axis : kernel.nodes[std::size_t(id)].axes) free.insert(axis);
    for (Id id : nest.nodes)
        if (auto store = as<Store>(kernel, id))
            for (const Stride& stride : store->access.strides) free.insert(stride.axis);
    for (const auto* looped : {&nest.each, &nest.par, &nest.seq})
        for (AxisId axis : *looped) free.erase(axis);
    nest.free.assign(free.begin(), free.end());
    return nest;
}

}  // namespace fovea::kernel
