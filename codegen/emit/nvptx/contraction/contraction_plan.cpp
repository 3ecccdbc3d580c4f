// The choices for contractions on a GPU.
#include "codegen/emit/nvptx/contraction/contraction_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/emit/nvptx/contraction/check_schedule.h"
#include "codegen/emit/nvptx/contraction/operand_plan.h"
#include "codegen/kernel/analysis/contraction_roles.h"
#include "codegen/kernel/analysis/loop_nest.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

/// A block of a large product computes 128 x 128 elements, by wgmma up to 128 x 256.
constexpr int kLargeTile = 128, kWideTile = 256;
constexpr int kSmallTile = 32;  // for few positions
constexpr int kGroupDepth = 128;  // bytes along the depth of a tile for wgmma: a swizzled row
/// Tiles for fewer rows: of few columns, of two warps, and of a group of four.
constexpr int kNarrowRows = 32, kNarrowColumns = 16, kGroupRows = 64, kMiddle = 64;

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

const Dim& extent_of(const Kernel& kernel, AxisId axis) {
    return kernel.axes[std::size_t(axis)].extent;
}

/// For few positions, and for more.
int tile_of(const Dim& extent, const target::GpuContraction& target) {
    return extent.is_static() && extent.value() <= kSmallTile ? kSmallTile : target.tile;
}

/// Whether the plan is one of several, of which sizes at run time choose.
bool has_smaller_ones(const Kernel& kernel, const ContractionPlan& plan) {
    return plan.points.empty() && !extent_of(kernel, plan.rows).is_static();
}

/// Whether there are so many blocks that no multiprocessor is without one, or a smaller plan is
/// there for fewer.
bool is_large(const Kernel& kernel, const ContractionPlan& plan, std::int64_t least,
              int tile_columns) {
    const Dim &rows = extent_of(kernel, plan.rows), &columns = extent_of(kernel, plan.columns);
    if (!columns.is_static()) return has_smaller_ones(kernel, plan) && tile_columns == kLargeTile;
    if (columns.value() < least) return false;
    if (!rows.is_static()) return true;
    const std::int64_t products = plan.before < 0 ? 1 : 2;
    const std::int64_t blocks =
        (rows.value() / kLargeTile) * (products * columns.value() / tile_columns);
    const target::Gpu& target = plan.settings.target;
    return rows.value() >= target.contraction.large && blocks >= target.blocks;
}

/// Sets the boxes of all operands; false, and none, where one has no such.
bool set_boxes(const Kernel& kernel, ContractionPlan& plan) {
    const bool is_one = plan.before < 0;
    const int columns = is_one ? plan.loaded_columns() : plan.own_columns();
    plan.a.boxes = find_boxes(kernel, plan, plan.a, plan.tile_rows);
    OperandPlan second = plan.b;
    second.load = plan.b.second;
    plan.b.second_boxes = is_one ? std::nullopt : find_boxes(kernel, plan, second, columns);
    plan.b.boxes = find_boxes(kernel, plan, plan.b, columns);
    if (plan.a.boxes && plan.b.boxes && (is_one || plan.b.second_boxes)) return true;
    plan.a.boxes = plan.b.boxes = plan.b.second_boxes = std::nullopt;
    return false;
}

/// Both operands are copied in boxes, or none is.
void choose_boxes(const Kernel& kernel, ContractionPlan& plan) {
    if (!plan.settings.aligned || !set_boxes(kernel, plan)) return;
    plan.stages = plan.settings.target.contraction.ring_stages, plan.overlaps = true;
}

/// As wgmma takes it.
void choose_group(const Kernel& kernel, ContractionPlan& plan) {
    plan.form = ContractionForm::group;
    const target::GpuContraction& target = plan.settings.target.contraction;
    plan.tile_depth = kGroupDepth / plan.element_bytes(), plan.stages = target.group_stages;
    if (!plan.a.asynchronous || !plan.b.asynchronous) return;
    if (plan.tile_rows == kLargeTile && is_large(kernel, plan, target.very_large, kWideTile))
        plan.tile_columns = kWideTile, plan.stages = target.ring_stages, plan.overlaps = true;
    choose_boxes(kernel, plan);
}

void choose_tile(const Kernel& kernel, ContractionPlan& plan) {
    const Dim& rows = extent_of(kernel, plan.rows);
    const Dim& columns = extent_of(kernel, plan.columns);
    const target::GpuContraction& target = plan.settings.target.contraction;
    const bool large = is_large(kernel, plan, target.large, kLargeTile);
    plan.tile_rows = large ? kLargeTile : tile_of(rows, target);
    plan.tile_columns = large ? kLargeTile : tile_of(columns, target);
    plan.stages = target.stages;
    if (plan.form == ContractionForm::scalar) {
        plan.tile_depth = target.depth;
        plan.threads = plan.tile_rows * plan.tile_columns / (large ? 64 : 16);
        return;
    }
    plan.tile_depth = target.depth_bytes / plan.element_bytes();
    plan.threads = large ? 256 : 128;
    if (!why_not_group(kernel, plan)) choose_group(kernel, plan);
}

/// As many as give each thread a piece, at most the 16 bytes that it can read at once.
int paired_columns(const ContractionPlan& plan, const OperandPlan& operand, int tile_outer) {
    if (!operand.in_pairs) return 1;
    return std::min(4, tile_outer * plan.tile_depth / operand.width / plan.threads);
}

/// Whether loops stand one inside the other, all of independent points.
bool is_nest_of_points(const Kernel& kernel, const std::vector<Id>& block) {
    int loops = 0;
    for (Id id : block) {
        const auto* loop = as<Loop>(kernel, id);
        if (!loop) continue;
        const bool is_plain = loop->kind == LoopKind::each || loop->kind == LoopKind::par;
        if (++loops > 1 || !is_plain || loop->lower >= 0 || loop->upper >= 0) return false;
        if (!is_nest_of_points(kernel, loop->body)) return false;
    }
    return true;
}

/// Whether each element of what is stored belongs to one element of the product.
bool is_whole(const Kernel& kernel, const Store& store, const LoopNest& nest,
              const std::vector<AxisId>& product) {
    for (AxisId axis : nest.each)
        if (!stride_along(store.access, axis)) return false;
    for (AxisId axis : product)
        if (!stride_along(store.access, axis)) return false;
    for (AxisId axis : kernel.nodes[std::size_t(store.value)].axes)
        if (!contains(product, axis)) return false;
    return true;
}

}  // namespace

std::optional<std::string> why_not_contraction(const Kernel& kernel) {
    if (!is_nest_of_points(kernel, kernel.body))
        return "its loops are not one inside the other, of independent points";
    const LoopNest nest = loop_nest(kernel);
    if (nest.before.size() > 1) return "it has more than two products";
    const Node* product = nullptr;
    for (Id id : nest.nodes) {
        if (as<Reduce>(kernel, id)) return "it has a sum or maximum beside the product";
        const auto* contract = as<Contract>(kernel, id);
        if (!contract) continue;
        if (!as<Load>(kernel, contract->a) || !as<Load>(kernel, contract->b))
            return "an operand of the product is computed, not loaded";
        product = &kernel.nodes[std::size_t(id)];
    }
    if (!product) return "it has no product";
    bool stores = false;
    for (Id id : nest.nodes) {
        const auto* store = as<Store>(kernel, id);
        if (!store) continue;
        stores = true;
        if (!is_whole(kernel, *store, nest, product->axes))
            return "it stores values that are not one for each element of the product";
    }
    if (!stores) return "it stores nothing";
    return std::nullopt;
}

/// Those of halves must be worth larger tiles of both operands: what passes through registers
/// one by one needs too many of them. Those of tf32 are read along the depth alone, and rounded
/// where the copy of a box does it.
std::optional<std::string> why_not_group(const Kernel& kernel, const ContractionPlan& plan) {
    if (!plan.settings.target.wgmma) return "the architecture has no wgmma";
    if (plan.tile_rows < 64 || plan.tile_columns < 64) return "a tile is smaller than 64 x 64";
    if (plan.before >= 0 && !plan.b.depth_inside)
        return "columns of two products are not contiguous along K";
    if (is_half(plan.factors)) {
        const bool by_one = !plan.a.asynchronous && !plan.b.asynchronous &&
                            (plan.a.width == 1 || plan.b.width == 1);
        if (by_one) return "operands pass through registers one by one";
        return std::nullopt;
    }
    if (!plan.settings.aligned) return "buffers are not aligned to 16 bytes";
    if (!plan.a.depth_inside || !plan.b.depth_inside)
        return "an operand is not contiguous along K, as wgmma reads tf32";
    ContractionPlan group = plan;
    choose_group(kernel, group);
    if (!group.copies_boxes()) return "an operand of tf32 has no tensor map";
    return std::nullopt;
}

ContractionPlan plan_contraction(const Kernel& kernel, const ContractionSettings& settings) {
    const LoopNest nest = loop_nest(kernel);
    const ContractionRoles roles = contraction_roles(kernel);
    ContractionPlan plan;
    plan.settings = settings;
    plan.rows = roles.rows, plan.columns = roles.columns;
    plan.points = nest.each;
    plan.points.insert(plan.points.end(), roles.points.begin(), roles.points.end());
    for (Id id : nest.nodes) {
        if (as<Store>(kernel, id)) plan.stores.push_back(id);
        if (as<Contract>(kernel, id)) plan.contract = id;
    }
    const auto& contract = *as<Contract>(kernel, plan.contract);
    if (contract.blocks >= 0)
        throw InternalError("kernel " + kernel.name + ": GPUs take no products in blocks");
    plan.contracted = contract.axes;
    plan.factors = contract.factors;
    plan.a.load = roles.a, plan.b.load = roles.b;
    if (!nest.before.empty()) {
        const ContractionRoles other = contraction_roles(kernel, nest.before[0]);
        if (other.rows != roles.rows || other.columns != roles.columns || roles.columns < 0 ||
            as<Contract>(kernel, nest.before[0])->axes != contract.axes)
            throw InternalError("kernel " + kernel.name + ": its products lie otherwise");
        plan.before = nest.before[0];
        plan.b.second = other.b;
    }
    if (plan.rows < 0) {
        plan.form = ContractionForm::vector;
        return plan;
    }
    plan.form = plan.factors == Factors::f32 ? ContractionForm::scalar : ContractionForm::matrix;
    plan.a = plan_operand(kernel, plan, roles.a, plan.rows);
    const Id second = plan.b.second;
    plan.b = plan_operand(kernel, plan, roles.b, plan.columns);
    plan.b.second = second;
    choose_tile(kernel, plan);
    plan.a.across = paired_columns(plan, plan.a, plan.tile_rows);
    plan.b.across = paired_columns(plan, plan.b, plan.tile_columns);
    check_schedule(kernel, plan);
    return plan;
}

namespace {

/// With fewer rows than this, or as many, there are fewer blocks than the GPU has room for.
std::int64_t rows_that_leave_room(const Kernel& kernel, const ContractionPlan& plan) {
    const std::int64_t columns = extent_of(kernel, plan.columns).value();
    const std::int64_t across = (columns + plan.own_columns() - 1) / plan.own_columns();
    if (across == 0) return 0;
    return plan.tile_rows * ((plan.settings.target.blocks + across - 1) / across - 1);
}

/// Up to which sizes smaller plans are taken: few rows, and what leaves room for more blocks.
struct Thresholds {
    Dim extent;
    std::int64_t few, small;
};

Thresholds thresholds_of(const Kernel& kernel, const ContractionPlan& plan) {
    const Dim &rows = extent_of(kernel, plan.rows), &columns = extent_of(kernel, plan.columns);
    const target::Gpu& target = plan.settings.target;
    if (columns.is_static()) {
        const std::int64_t small = rows_that_leave_room(kernel, plan);
        return {rows, std::min<std::int64_t>(target.contraction.few_rows, small), small};
    }
    const std::int64_t blocks = target.blocks - 1, tile = plan.tile_rows * plan.own_columns();
    return {rows * columns, blocks * std::min<std::int64_t>(kMiddle * kMiddle, tile),
            blocks * tile};
}

/// The plan for a smaller tile. None where wgmma's operands cannot be copied to it in boxes.
std::optional<ContractionPlan> with_tile(const Kernel& kernel, const ContractionPlan& large,
                                         int tile_rows, int tile_columns) {
    ContractionPlan plan = large;
    plan.tile_rows = tile_rows, plan.tile_columns = tile_columns;
    if (tile_columns == kNarrowColumns)
        plan.stages *= plan.settings.target.contraction.narrow_stages;
    if (plan.form == ContractionForm::scalar) plan.threads = tile_rows * tile_columns / 16;
    else plan.threads = plan.form == ContractionForm::group || tile_rows == kMiddle ? 128 : 64;
    plan.a.across = paired_columns(plan, plan.a, plan.tile_rows);
    plan.b.across = paired_columns(plan, plan.b, plan.loaded_columns());
    if (!plan.copies_boxes() || set_boxes(kernel, plan)) return plan;
    return std::nullopt;
}

}  // namespace

std::vector<ContractionPlan> plan_contractions(const Kernel& kernel,
                                               const ContractionSettings& settings) {
    ContractionPlan large = plan_contraction(kernel, settings);
    if (large.form == ContractionForm::vector || !has_smaller_ones(kernel, large)) return {large};
    const Thresholds thresholds = thresholds_of(kernel, large);
    if (thresholds.small == 0) return {large};
    large.taken.extent = thresholds.extent;
    std::vector<ContractionPlan> plans;
    const auto add = [&](std::optional<ContractionPlan> plan, std::int64_t most) {
        if (!plan || most < large.taken.least) return;
        plan->taken.least = large.taken.least, plan->taken.most = most;
        large.taken.least = most + 1;
        check_schedule(kernel, *plan);
        plans.push_back(std::move(*plan));
    };
    const int rows = large.form == ContractionForm::group ? kGroupRows : kNarrowRows;
    add(with_tile(kernel, large, rows, kNarrowColumns), thresholds.few);
    if (large.tile_rows > kMiddle)
        add(with_tile(kernel, large, kMiddle, kMiddle), thresholds.small);
    plans.push_back(large);
    return plans;
}

std::string print(const Kernel& kernel, const ContractionPlan& plan) {
    constexpr const char* kForms[] = {"scalar", "matrix", "group", "vector"};
    if (plan.form == ContractionForm::vector) return "vector";
    const auto text = [&](const OperandPlan& operand) {
        return fmt::format("{}, {} inside, {} at once{}{}",
                           kernel.axes[std::size_t(operand.outer)].name,
                           operand.depth_inside ? "depth" : "it", operand.width,
                           operand.in_pairs ? fmt::format(" of {} in pairs", operand.across) : "",
                           operand.boxes          ? " in boxes"
                           : operand.asynchronous ? ""
                                                  : " through registers");
    };
    return fmt::format("{}{}, {} x {} x {}, {} threads, {} stages{}; a: {}; b: {}",
                       kForms[int(plan.form)], plan.factors == Factors::tf32 ? " of tf32" : "",
                       plan.tile_rows, plan.tile_columns, plan.tile_depth, plan.threads,
                       plan.stages, plan.overlaps ? " that overlap" : "", text(plan.a),
                       text(plan.b));
}

}  // namespace fovea::emit::nvptx
