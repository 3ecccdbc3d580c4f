#include "codegen/emit/nvptx/attention/attention_group.h"

#include "codegen/emit/nvptx/attention/attention_group_forms.h"
#include "codegen/emit/nvptx/tiles/tile_kernel.h"

namespace fovea::emit::nvptx {

PtxLaunch write_attention_group(llvm::Module& module, const AttentionGroupPlan& plan,
                                const std::string& entry) {
    PtxLaunch launch{.entry = entry, .grid = {}, .threads = AttentionGroupPlan::threads()};
    for (const auto* operands : {&plan.fixed, &plan.moving})
        for (const AttentionGroupPlan::Operand& operand : *operands)
            launch.maps.push_back(operand.map);
    Function function(module, plan.kernel, entry, launch.threads, launch.maps);
    prepare_tile_function(function);
    if (plan.only_adds) write_attention_sums(plan, function);
    else write_attention_forward(plan, function);
    const auto extent = [&](kernel::AxisId axis) {
        return plan.kernel.axes[std::size_t(axis)].extent;
    };
    for (kernel::AxisId axis : plan.points) launch.grid.push_back({extent(axis), 1});
    launch.grid.push_back({extent(plan.rows), AttentionGroupPlan::tile_rows()});
    launch.shared_bytes = plan.shared_bytes();
    return launch;
}

}  // namespace fovea::emit::nvptx
