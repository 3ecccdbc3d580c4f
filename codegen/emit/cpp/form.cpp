// Flattens the loops: a value of an outer block is a value of the innermost one, too.
#include "codegen/emit/cpp/form.h"

#include <algorithm>
#include <set>

#include "codegen/base/error.h"

namespace fovea::emit {

using namespace kernel;

namespace {

void flatten(const Kernel& kernel, const std::vector<Id>& block, Form& form) {
    int loops = 0;
    for (Id id : block) {
        auto loop = as<Loop>(kernel, id);
        if (!loop) {
            form.nodes.push_back(id);
            if (as<Contract>(kernel, id)) form.contract = id;
            continue;
        }
        if (++loops > 1)
            throw InternalError("kernel " + kernel.name + ": two loops side by side have no form");
        (loop->kind == LoopKind::each  ? form.each
         : loop->kind == LoopKind::par ? form.par
                                       : form.seq)
            .push_back(loop->axis);
        flatten(kernel, loop->body, form);
    }
}

}  // namespace

Form find_form(const Kernel& kernel) {
    Form form;
    flatten(kernel, kernel.body, form);
    std::set<AxisId> free;
    for (Id id : form.nodes)
        for (AxisId axis : kernel.nodes[std::size_t(id)].axes) free.insert(axis);
    for (Id id : form.nodes)
        if (auto store = as<Store>(kernel, id))
            for (const Stride& stride : store->access.strides) free.insert(stride.axis);
    for (const auto* looped : {&form.each, &form.par, &form.seq})
        for (AxisId axis : *looped) free.erase(axis);
    form.free.assign(free.begin(), free.end());
    if (form.contract >= 0) form.kind = FormKind::contraction;
    else if (!form.seq.empty()) form.kind = FormKind::scatter;
    return form;
}

}  // namespace fovea::emit
