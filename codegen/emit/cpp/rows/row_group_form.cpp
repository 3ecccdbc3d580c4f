// Rows in groups are written once for one row and for four: what they compute must be spelled the
// same for a number and for a vector.
#include "codegen/emit/cpp/rows/row_group_form.h"

#include <algorithm>

#include "codegen/emit/cpp/expression.h"
#include "codegen/emit/cpp/values.h"
#include "codegen/kernel/analysis/row_tail.h"

namespace fovea::emit {

using namespace kernel;

namespace {

bool has_stride(const Access& access, AxisId axis) {
    return std::any_of(access.strides.begin(), access.strides.end(),
                       [&](const Stride& stride) { return stride.axis == axis; });
}

/// Functions that are written the same for a number and for a vector of them.
bool is_the_same_in_lanes(const Kernel& kernel, const Map& map) {
    const Elementwise function = map.function;
    const bool operates = function == Elementwise::neg || function == Elementwise::add ||
                          function == Elementwise::sub || function == Elementwise::mul ||
                          function == Elementwise::div;
    const bool calls = map.operands.size() == 1 && is_expensive(function);
    return (operates || calls) &&
           std::all_of(map.operands.begin(), map.operands.end(), [&](Id operand) {
               return kernel.nodes[std::size_t(operand)].dtype == DType::f32;
           });
}

/// Why a number for each row, or a store of one, has no form.
std::optional<std::string> why_not_per_row(const Kernel& kernel, Id id) {
    const DType dtype = kernel.nodes[std::size_t(id)].dtype;
    const Access* access = access_of(kernel, id);
    const DType memory = access ? kernel.buffers[std::size_t(access->buffer)].dtype : DType::f32;
    if (auto store = as<Store>(kernel, id); store && (store->accumulate || memory != DType::f32))
        return "it stores numbers of rows other than as float32";
    if (access && memory != DType::f32 && memory != DType::i32)
        return "it reads numbers of rows other than as float32 or i32";
    if (auto map = as<Map>(kernel, id); map && !is_the_same_in_lanes(kernel, *map))
        return "it computes numbers of rows by more than float32 arithmetic";
    if (as<Index>(kernel, id) || as<Random>(kernel, id) || dtype == DType::boolean)
        return "it has numbers of rows that are not values";
    return std::nullopt;
}

std::optional<std::string> why_not_node(const Kernel& kernel, const RowForm& rows,
                                        const std::set<Id>& per_row, Id id) {
    if (const Access* access = access_of(kernel, id); access && access->row >= 0)
        return "it gathers";
    const auto across = [&](Id operand) {
        const auto& axes = kernel.nodes[std::size_t(operand)].axes;
        return std::find(axes.begin(), axes.end(), rows.lane) != axes.end();
    };
    auto reduce = as<Reduce>(kernel, id);
    if (reduce && (!across(reduce->operand) || kernel.nodes[std::size_t(id)].dtype != DType::f32))
        return "it has a reduction that is not across lanes of float32";
    if (reduce && reduce->blocks < 0 && !per_row.contains(id))
        return "it has a sum that is the same for all rows";
    auto store = as<Store>(kernel, id);
    const bool scalar = store && !has_stride(store->access, rows.lane) && !across(store->value);
    return per_row.contains(id) || scalar ? why_not_per_row(kernel, id) : std::nullopt;
}

}  // namespace

AxisId axis_of_groups(const LoopNest& nest, const RowForm& rows) {
    if (!rows.sums.empty()) return rows.rows.size() == 1 ? rows.rows[0] : -1;
    return nest.each.empty() ? -1 : nest.each.back();
}

std::set<Id> find_per_row(const Kernel& kernel, const RowForm& rows, AxisId axis) {
    std::set<Id> moving, result;
    for (Id id : rows.nodes) {
        const Access* access = access_of(kernel, id);
        auto index = as<Index>(kernel, id);
        const auto operands = operands_of(kernel, id);
        const bool moves = (access && has_stride(*access, axis)) ||
                           (index && index->axis == axis) || as<Random>(kernel, id) ||
                           std::any_of(operands.begin(), operands.end(),
                                       [&](Id operand) { return moving.contains(operand); });
        if (!moves) continue;
        moving.insert(id);
        const auto& axes = kernel.nodes[std::size_t(id)].axes;
        const bool inner = std::find(axes.begin(), axes.end(), rows.lane) != axes.end();
        if (!inner && !as<Store>(kernel, id)) result.insert(id);
    }
    return result;
}

std::optional<std::string> why_not_row_groups(const Kernel& kernel, const LoopNest& nest,
                                              const RowForm& rows, const target::CpuRows& target) {
    if (rows.lane < 0 || rows.columns || !rows.steps.empty()) return "its rows have not one axis";
    const AxisId axis = axis_of_groups(nest, rows);
    if (axis < 0) return "it has no rows, or rows along two axes";
    const Dim& length = kernel.axes[std::size_t(rows.lane)].extent;
    if (length.is_static() && length.value() > target.short_row) return "its rows are long";
    const std::set<Id> per_row = find_per_row(kernel, rows, axis);
    bool reduces = false;
    for (Id id : rows.nodes) {
        if (auto reason = why_not_node(kernel, rows, per_row, id)) return reason;
        auto reduce = as<Reduce>(kernel, id);
        reduces |= reduce && reduce->blocks < 0;
    }
    if (!reduces) return "it has nothing to sum across lanes";
    Kernel copy = kernel;
    if (cut_row_tail(copy, rows.nodes, rows.lane)) return "its rows end where a mask does";
    return std::nullopt;
}

}  // namespace fovea::emit
