// What is chosen for each kernel, in words.
#include <fmt/format.h>

#include "codegen/emit/cpp/rows/row_form.h"
#include "codegen/emit/cpp/rows/row_group_form.h"
#include "codegen/emit/cpp/skeletons.h"
#include "codegen/emit/emitter.h"
#include "codegen/kernel/print.h"
#include "codegen/kernel/schedule.h"
#include "codegen/kernel/tile_schedule.h"

namespace fovea::emit {

using namespace kernel;

namespace {

std::string rows_choice(const Kernel& kernel, const target::Target& target) {
    const LoopNest nest = loop_nest(kernel);
    Signature signature(kernel);
    const RowForm rows = find_row_form(kernel, nest, signature);
    const auto reason = why_not_row_groups(kernel, nest, rows, target.cpu.rows);
    std::string text = rows.lane < 0 ? "rows, number by number"
                                     : "rows, lanes " + kernel.axes[std::size_t(rows.lane)].name;
    if (!rows.sums.empty())
        text += ", sums in " + text_of(kernel.axes[std::size_t(rows.blocks)].extent) + " blocks";
    return text + (reason ? ", one row at a time: " + *reason : ", four rows at a time");
}

}  // namespace

std::string cpp_choice(const Kernel& kernel, const target::Target& target) {
    switch (kernel.form) {
        case Form::rows: return rows_choice(kernel, target);
        case Form::contraction:
            return "product, " + print(kernel, contraction_schedule(kernel, target));
        case Form::scatter: return "rows added to a table, in order";
        case Form::tiles:
            return "loops over tiles, " + print(kernel, tile_schedule(kernel, target.cpu.tiles));
        case Form::scan: break;
    }
    std::string text = "steps of a loop";
    for (const Kernel& step : kernel.steps->kernels)
        text += fmt::format("\n  {}: {}", step.name, cpp_choice(step, target));
    return text;
}

}  // namespace fovea::emit
