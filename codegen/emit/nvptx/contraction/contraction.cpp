// The entry, the grid, and the skeleton that the plan names.
#include "codegen/emit/nvptx/contraction/contraction.h"

#include "codegen/emit/nvptx/contraction/check_schedule.h"
#include "codegen/emit/nvptx/contraction/contraction_block.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

/// Of products that tensor cores may take.
std::string form_of(const Kernel& kernel, const ContractionPlan& plan) {
    if (plan.factors == Factors::f32) return "";
    const std::string products =
        plan.factors == Factors::tf32
            ? "products of tf32 "
            : "products of " + std::string(long_name_of(dtype_of(plan.factors))) + " ";
    if (plan.form == ContractionForm::group) return products + "by groups of warps (wgmma)";
    if (plan.form == ContractionForm::matrix)
        return products + "by warps (mma.sync), not by groups of them (wgmma): " +
               why_not_group(kernel, plan).value_or("");
    return "products by threads, in float32, not by warps (mma.sync): they have no rows";
}

PtxLaunch write_contraction_launch(llvm::Module& module, const Kernel& kernel,
                                   const std::string& entry, const ContractionPlan& plan) {
    const VectorShape vector = vector_shape(kernel, plan);
    const bool has_rows = plan.form != ContractionForm::vector;
    const int tile_columns = has_rows ? plan.own_columns() : vector.columns;
    PtxLaunch launch;
    launch.entry = entry;
    launch.form = form_of(kernel, plan);
    launch.threads = has_rows ? plan.all_threads() : vector.threads;
    if (plan.copies_boxes()) launch.maps = {plan.a.boxes->map, plan.b.boxes->map};
    if (plan.b.second_boxes) launch.maps.push_back(plan.b.second_boxes->map);
    for (AxisId axis : plan.points)
        launch.grid.push_back({.extent = kernel.axes[std::size_t(axis)].extent, .tile = 1});
    if (has_rows)
        launch.grid.push_back({kernel.axes[std::size_t(plan.rows)].extent, plan.tile_rows});
    if (plan.columns >= 0)
        launch.grid.push_back({kernel.axes[std::size_t(plan.columns)].extent, tile_columns});
    Function f(module, kernel, entry, launch.threads, launch.maps);
    const ContractionBlock block = enter_block(f, plan, plan.tile_rows, tile_columns);
    if (plan.copies_boxes()) launch.shared_bytes = write_ring(block);
    else if (has_rows) launch.shared_bytes = write_tiles(block);
    else write_vector(block);
    check_shared_bytes(kernel, launch.shared_bytes, plan.settings.target,
                       "gpu.contraction.stages, group_stages, ring_stages, narrow_stages or depth");
    f.finish();
    return launch;
}

}  // namespace

PtxKernel write_contraction(llvm::Module& module, const Kernel& kernel,
                            const ContractionSettings& settings,
                            const std::function<std::string(const std::string&)>& name_entry) {
    PtxKernel result{.name = kernel.name, .launches = {}, .steps = {}};
    const std::vector<ContractionPlan> plans = plan_contractions(kernel, settings);
    for (const ContractionPlan& plan : plans) {
        const bool is_last = &plan == &plans.back();
        const std::string entry =
            is_last ? kernel.name
                    : name_entry(kernel.name + "_to_" + std::to_string(plan.taken.most));
        result.launches.push_back(write_contraction_launch(module, kernel, entry, plan));
        if (plans.size() > 1) result.launches.back().range = plan.taken;
    }
    return result;
}

}  // namespace fovea::emit::nvptx
