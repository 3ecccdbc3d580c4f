// Rows are numbered along the sequences first, so a sequence's rows follow from their strides.
#include "codegen/plan/rows_of_draws.h"

#include "codegen/base/error.h"

namespace fovea::plan {

namespace {

/// None where all sequences share what is drawn.
Dim rows_of_sequence(const kernel::Kernel& kernel, int site, const Dim& sequences) {
    for (const kernel::Node& node : kernel.nodes) {
        const auto* random = std::get_if<kernel::Random>(&node.operation);
        if (!random || random->site != site) continue;
        for (const kernel::Stride& stride : random->row) {
            const Dim& extent = kernel.axes[std::size_t(stride.axis)].extent;
            if (!extent.holds(sequences.bare_symbol())) continue;
            if (extent.divisible_by(sequences)) return stride.stride * (extent / sequences);
            throw InternalError("plan: " + kernel.name + " draws in shards, but not by sequence");
        }
    }
    return 0;
}

}  // namespace

void number_rows_of_draws(Program& program, const std::vector<kernel::Kernel>& kernels) {
    if (program.shards.count < 2) return;
    for (Step& step : program.steps) {
        const kernel::Kernel& kernel = kernels[std::size_t(step.kernel)];
        const std::vector<int> own = kernel::sites_of(kernel);
        for (int site : own)
            step.site_rows.push_back(rows_of_sequence(kernel, site, program.shards.sequences));
    }
}

}  // namespace fovea::plan
