// One rule per kind of node; the builder applies them and the verifier checks them.
#include "codegen/kernel/infer_types.h"

#include <algorithm>
#include <cmath>

namespace fovea::kernel {
namespace {

void unite(std::vector<AxisId>& axes, const std::vector<AxisId>& more) {
    axes.insert(axes.end(), more.begin(), more.end());
}

void unite(std::vector<AxisId>& axes, const std::vector<Stride>& strides) {
    for (const Stride& stride : strides) axes.push_back(stride.axis);
}

void remove(std::vector<AxisId>& axes, const std::vector<AxisId>& gone) {
    std::erase_if(
        axes, [&](AxisId axis) { return std::find(gone.begin(), gone.end(), axis) != gone.end(); });
}

bool works_in_booleans(Elementwise function) { return row_of(function).works == Works::any; }

}  // namespace

bool works_in_floats(Elementwise function) { return row_of(function).works == Works::floats; }

const Carry& carry_of(const Kernel& kernel, const Result& result) {
    return std::get<Loop>(kernel.nodes[std::size_t(result.loop)].operation)
        .carries[std::size_t(result.number)];
}

std::vector<AxisId> tile_axes(const Kernel& kernel, const Operation& operation,
                              const std::vector<AxisId>& points) {
    std::vector<AxisId> axes;
    const auto of = [&](Id id) -> const std::vector<AxisId>& {
        return kernel.nodes[std::size_t(id)].axes;
    };
    if (auto index = std::get_if<Index>(&operation)) axes = {index->axis};
    if (auto constant = std::get_if<Constant>(&operation)) axes = constant->axes;
    if (auto carried = std::get_if<Carried>(&operation)) axes = of(carried->initial);
    if (auto result = std::get_if<Result>(&operation)) axes = of(carry_of(kernel, *result).initial);
    if (auto valid = std::get_if<Valid>(&operation)) {
        axes = {valid->axis};
        for (Id bound : {valid->lower, valid->upper})
            if (bound >= 0) unite(axes, of(bound));
    }
    if (auto load = std::get_if<Load>(&operation)) {
        unite(axes, load->access.strides);
        if (load->access.row >= 0) unite(axes, of(load->access.row));
    }
    if (auto random = std::get_if<Random>(&operation)) {
        unite(axes, random->row);
        unite(axes, random->column);
    }
    if (auto map = std::get_if<Map>(&operation))
        for (Id operand : map->operands) unite(axes, of(operand));
    if (auto reduce = std::get_if<Reduce>(&operation)) {
        unite(axes, of(reduce->operand));
        remove(axes, reduce->axes);
        if (reduce->blocks >= 0) unite(axes, std::vector<AxisId>{reduce->blocks});
    }
    if (auto contract = std::get_if<Contract>(&operation)) {
        unite(axes, of(contract->a));
        unite(axes, of(contract->b));
        remove(axes, contract->axes);
        if (contract->blocks >= 0) unite(axes, std::vector<AxisId>{contract->blocks});
    }
    remove(axes, points);
    std::sort(axes.begin(), axes.end());
    axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
    return axes;
}

DType operand_dtype(const Kernel& kernel, const Map& map) {
    if (works_in_floats(map.function) || (map.cast_to && is_float(*map.cast_to))) return DType::f32;
    const bool skip_condition = map.function == Elementwise::where;
    bool integers = false, booleans = false, only_whole_i32 = true;
    for (std::size_t i = skip_condition ? 1 : 0; i < map.operands.size(); ++i) {
        const Node& node = kernel.nodes[std::size_t(map.operands[i])];
        auto constant = std::get_if<Constant>(&node.operation);
        only_whole_i32 &= constant && node.dtype == DType::i32;
        if (constant && constant->value == std::floor(constant->value) &&
            std::fabs(constant->value) < 2147483648.0)
            continue;  // a whole number fits any type
        if (is_float(node.dtype)) return DType::f32;
        integers |= node.dtype == DType::i32;
        booleans |= node.dtype == DType::boolean;
    }
    if (integers || only_whole_i32) return DType::i32;
    return booleans && works_in_booleans(map.function) ? DType::boolean : DType::f32;
}

DType tile_dtype(const Kernel& kernel, const Operation& operation, DType made_with) {
    if (std::holds_alternative<Index>(operation)) return DType::i32;
    if (std::holds_alternative<Valid>(operation)) return DType::boolean;
    if (auto carried = std::get_if<Carried>(&operation))
        return kernel.nodes[std::size_t(carried->initial)].dtype;
    if (auto result = std::get_if<Result>(&operation))
        return kernel.nodes[std::size_t(carry_of(kernel, *result).initial)].dtype;
    if (auto load = std::get_if<Load>(&operation))
        return widened(kernel.buffers[std::size_t(load->access.buffer)].dtype);
    if (auto map = std::get_if<Map>(&operation); map && map->cast_to) return widened(*map->cast_to);
    if (auto map = std::get_if<Map>(&operation))
        return row_of(map->function).gives_boolean ? DType::boolean : operand_dtype(kernel, *map);
    if (auto reduce = std::get_if<Reduce>(&operation)) {
        const DType dtype = kernel.nodes[std::size_t(reduce->operand)].dtype;
        return dtype == DType::boolean ? DType::f32 : dtype;
    }
    return std::holds_alternative<Constant>(operation) || std::holds_alternative<Extent>(operation)
               ? widened(made_with)
               : DType::f32;
}

}  // namespace fovea::kernel
