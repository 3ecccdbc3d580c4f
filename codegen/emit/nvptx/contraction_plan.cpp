// The choices for contractions on a GPU.
#include "codegen/emit/nvptx/contraction_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/kernel/schedule.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

/// From how many columns and rows on a block computes 128 x 128 elements.
constexpr std::int64_t kLarge = 512;
/// From how many columns on a block computes 128 x 256, by wgmma of operands without registers.
constexpr std::int64_t kVeryLarge = 2048;
/// Runs of elements that are shorter are read by neighbouring threads across them.
constexpr std::int64_t kShortRun = 8;
/// Elements along the depth of which a thread exchanges pairs: 16 bytes in shared memory.
constexpr int kPairedDepth = 8;
/// Bytes along the depth of a tile for mma.sync, and for wgmma.
constexpr int kMatrixDepth = 64, kGroupDepth = 128;
/// Up to so many rows, such as those of a decoding step, a block computes few columns: the tile for
/// each form, and how many times as many stages it has, since little of it is in each.
constexpr std::int64_t kFewRows = 64;
constexpr int kNarrowRows = 32, kNarrowColumns = 16, kNarrowStages = 2;
constexpr int kGroupRows = 64, kMiddle = 64;

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

const Dim& extent_of(const Kernel& kernel, AxisId axis) {
    return kernel.axes[std::size_t(axis)].extent;
}

DType dtype_of(const Kernel& kernel, Id load) {
    return kernel.buffers[std::size_t(as<Load>(kernel, load)->access.buffer)].dtype;
}

/// The one stride of an access along an axis; null where there are none or several.
const Stride* stride_along(const Access& access, AxisId axis) {
    const Stride* found = nullptr;
    for (const Stride& stride : access.strides) {
        if (stride.axis != axis) continue;
        if (found) return nullptr;
        found = &stride;
    }
    return found;
}

/// How many neighbours along the axis are neighbours in memory; 1 where the next one is elsewhere.
Dim run_along(const Kernel& kernel, const Access& access, AxisId axis) {
    const Stride* stride = stride_along(access, axis);
    if (!stride) return 1;
    if (stride->panel) return stride->step == 1 ? stride->panel : 1;
    return stride->stride.is_one() ? extent_of(kernel, axis).without_label() : Dim(1);
}

}  // namespace

bool lies_in_groups(const Kernel& kernel, const Access& access, AxisId axis, int width) {
    const Dim by(width);
    if (!run_along(kernel, access, axis).divisible_by(by)) return false;
    if (!extent_of(kernel, axis).divisible_by(by) || !access.offset.divisible_by(by)) return false;
    if (access.row >= 0 && !access.row_stride.divisible_by(by)) return false;
    for (const Stride& stride : access.strides) {
        const bool along = stride.axis == axis;
        if ((!along || stride.panel) && !stride.stride.divisible_by(by)) return false;
        if (!along && stride.panel && stride.step % width != 0) return false;
    }
    return true;
}

namespace {

/// The widest group of at most 16 bytes.
int group_width(const Kernel& kernel, Id load, AxisId axis) {
    const Access& access = as<Load>(kernel, load)->access;
    for (int width = dtype_of(kernel, load) == DType::bf16 ? 8 : 4; width > 1; width /= 2)
        if (lies_in_groups(kernel, access, axis, width)) return width;
    return 1;
}

/// Whether pairs along the depth lie beside those of the next positions along the outer axis, and
/// any four of these can be read at once.
bool lies_in_pairs(const Kernel& kernel, const Access& access, AxisId outer, AxisId depth) {
    const Dim eight(8);
    const Stride *along = stride_along(access, depth), *across = stride_along(access, outer);
    if (!along || along->panel != 2 || along->step != 1) return false;
    if (!across || across->panel % 4 != 0 || !across->panel || across->step != 2) return false;
    if (!extent_of(kernel, depth).divisible_by(Dim(2)) || access.row >= 0) return false;
    for (const Stride& stride : access.strides) {
        if (!stride.stride.divisible_by(eight)) return false;
        if (&stride != along && &stride != across && stride.panel) return false;
    }
    return access.offset.divisible_by(eight);
}

bool is_short(const Dim& run) { return run.is_static() && run.value() < kShortRun; }

OperandPlan plan_operand(const Kernel& kernel, const ContractionPlan& plan, Id load, AxisId outer) {
    const Access& access = as<Load>(kernel, load)->access;
    const AxisId depth = plan.contracted.back();
    const Dim depth_run = run_along(kernel, access, depth);
    const Dim outer_run = run_along(kernel, access, outer);
    OperandPlan operand{.load = load, .outer = outer};
    operand.depth_first = !depth_run.is_one() && !is_short(depth_run);
    const bool halves = dtype_of(kernel, load) == DType::bf16;
    if (plan.form == ContractionForm::scalar) {
        operand.asynchronous = !halves;
        if (plan.settings.aligned && !halves && !outer_run.is_one()) {
            operand.width = group_width(kernel, load, outer);
            if (operand.width < 4) operand.width = 1;
        }
        return operand;
    }
    operand.depth_inside = outer_run.is_one() || !depth_run.is_one();
    if (plan.factors == Factors::tf32) {
        // What lies in memory as bfloat16 is widened on its way.
        operand.asynchronous = !halves;
        if (plan.settings.aligned && !halves)
            operand.width = group_width(kernel, load, operand.depth_inside ? depth : outer);
        return operand;
    }
    if (plan.settings.aligned && halves && plan.contracted.size() == 1 &&
        lies_in_pairs(kernel, access, outer, depth)) {
        operand.in_pairs = operand.depth_first = true;
        operand.width = kPairedDepth;
        return operand;
    }
    if (plan.settings.aligned)
        operand.width = group_width(kernel, load, operand.depth_inside ? depth : outer);
    operand.asynchronous = halves && operand.width > 1;
    return operand;
}

/// 32 for few positions, 64 for more.
int tile_of(const Dim& extent) { return extent.is_static() && extent.value() <= 32 ? 32 : 64; }

/// Whether there are so many blocks that no multiprocessor is without one.
bool is_large(const Kernel& kernel, const ContractionPlan& plan, std::int64_t least,
              int tile_columns) {
    const Dim &rows = extent_of(kernel, plan.rows), &columns = extent_of(kernel, plan.columns);
    if (!columns.is_static() || columns.value() < least) return false;
    if (!rows.is_static()) return true;
    const std::int64_t blocks = (rows.value() / 128) * (columns.value() / tile_columns);
    return rows.value() >= kLarge && blocks >= plan.settings.blocks;
}

/// Both operands are copied in boxes, into four stages, or none is.
void choose_boxes(const Kernel& kernel, ContractionPlan& plan) {
    if (!plan.settings.aligned) return;
    auto a = find_boxes(kernel, plan, plan.a, plan.tile_rows);
    auto b = find_boxes(kernel, plan, plan.b, plan.loaded_columns());
    if (!a || !b) return;
    plan.a.boxes = std::move(a), plan.b.boxes = std::move(b);
    plan.stages = 4, plan.overlaps = true;
}

/// As wgmma takes it.
void choose_group(const Kernel& kernel, ContractionPlan& plan) {
    plan.form = ContractionForm::group;
    plan.tile_depth = kGroupDepth / plan.element_bytes(), plan.stages = 3;
    if (!plan.a.asynchronous || !plan.b.asynchronous) return;
    if (is_large(kernel, plan, kVeryLarge, 256))
        plan.tile_columns = 256, plan.stages = 4, plan.overlaps = true;
    choose_boxes(kernel, plan);
}

void choose_tile(const Kernel& kernel, ContractionPlan& plan) {
    const Dim& rows = extent_of(kernel, plan.rows);
    const Dim& columns = extent_of(kernel, plan.columns);
    const bool large = is_large(kernel, plan, kLarge, 128);
    plan.tile_rows = large ? 128 : tile_of(rows);
    plan.tile_columns = large ? 128 : tile_of(columns);
    if (plan.form == ContractionForm::scalar) {
        plan.tile_depth = 16;
        plan.threads = plan.tile_rows * plan.tile_columns / (large ? 64 : 16);
        return;
    }
    plan.tile_depth = kMatrixDepth / plan.element_bytes();
    plan.threads = large ? 256 : 128;
    if (!why_not_group(kernel, plan)) choose_group(kernel, plan);
}

/// As many as give each thread a piece, at most the 16 bytes that it can read at once.
int paired_columns(const ContractionPlan& plan, const OperandPlan& operand, int tile_outer) {
    if (!operand.in_pairs) return 1;
    return std::min(4, tile_outer * plan.tile_depth / operand.width / plan.threads);
}

/// All nodes but the loops, and the axes of those loops.
struct Flat {
    std::vector<Id> nodes;
    std::vector<AxisId> each;
    bool other_loops = false;
};

void flatten(const Kernel& kernel, const std::vector<Id>& block, Flat& flat) {
    int loops = 0;
    for (Id id : block) {
        const auto* loop = as<Loop>(kernel, id);
        if (!loop) {
            flat.nodes.push_back(id);
            continue;
        }
        if (loop->kind == LoopKind::each) flat.each.push_back(loop->axis);
        flat.other_loops |= ++loops > 1 || loop->lower >= 0 || loop->upper >= 0 ||
                            (loop->kind != LoopKind::each && loop->kind != LoopKind::par);
        flatten(kernel, loop->body, flat);
    }
}

/// Whether each element of what is stored belongs to one element of the product.
bool is_whole(const Kernel& kernel, const Store& store, const Flat& flat,
              const std::vector<AxisId>& product) {
    for (AxisId axis : flat.each)
        if (!stride_along(store.access, axis)) return false;
    for (AxisId axis : product)
        if (!stride_along(store.access, axis)) return false;
    for (AxisId axis : kernel.nodes[std::size_t(store.value)].axes)
        if (!contains(product, axis)) return false;
    return true;
}

}  // namespace

std::optional<std::string> why_not_contraction(const Kernel& kernel) {
    Flat flat;
    flatten(kernel, kernel.body, flat);
    if (flat.other_loops) return "its loops are not one inside the other, of independent points";
    const Node* product = nullptr;
    for (Id id : flat.nodes) {
        if (as<Reduce>(kernel, id)) return "it has a sum or maximum beside the product";
        const auto* contract = as<Contract>(kernel, id);
        if (!contract) continue;
        if (product) return "it has two products";
        if (!as<Load>(kernel, contract->a) || !as<Load>(kernel, contract->b))
            return "an operand of the product is computed, not loaded";
        product = &kernel.nodes[std::size_t(id)];
    }
    if (!product) return "it has no product";
    bool stores = false;
    for (Id id : flat.nodes) {
        const auto* store = as<Store>(kernel, id);
        if (!store) continue;
        stores = true;
        if (!is_whole(kernel, *store, flat, product->axes))
            return "it stores values that are not one for each element of the product";
    }
    if (!stores) return "it stores nothing";
    return std::nullopt;
}

/// Those of bfloat16 must be worth larger tiles of both operands: what passes through registers
/// one by one needs too many of them. Those of tf32 are read along the depth alone, and rounded
/// where the copy of a box does it.
std::optional<std::string> why_not_group(const Kernel& kernel, const ContractionPlan& plan) {
    if (!plan.settings.wgmma) return "the architecture has no wgmma";
    if (plan.tile_rows < 64 || plan.tile_columns < 64) return "a tile is smaller than 64 x 64";
    if (plan.factors == Factors::bf16) {
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
    Flat flat;
    flatten(kernel, kernel.body, flat);
    const ContractionSchedule schedule = contraction_schedule(kernel);
    ContractionPlan plan;
    plan.settings = settings;
    plan.rows = schedule.rows, plan.columns = schedule.lanes;
    plan.points = flat.each;
    plan.points.insert(plan.points.end(), schedule.points.begin(), schedule.points.end());
    for (Id id : flat.nodes) {
        if (as<Store>(kernel, id)) plan.stores.push_back(id);
        if (as<Contract>(kernel, id)) plan.contract = id;
    }
    const auto& contract = *as<Contract>(kernel, plan.contract);
    if (contract.blocks >= 0)
        throw InternalError("kernel " + kernel.name + ": GPUs take no products in blocks");
    plan.contracted = contract.axes;
    plan.factors = contract.factors;
    plan.a.load = schedule.a, plan.b.load = schedule.b;
    if (plan.rows < 0) {
        plan.form = ContractionForm::vector;
        return plan;
    }
    plan.form = plan.factors == Factors::f32 ? ContractionForm::scalar : ContractionForm::matrix;
    plan.a = plan_operand(kernel, plan, schedule.a, plan.rows);
    plan.b = plan_operand(kernel, plan, schedule.b, plan.columns);
    choose_tile(kernel, plan);
    plan.a.across = paired_columns(plan, plan.a, plan.tile_rows);
    plan.b.across = paired_columns(plan, plan.b, plan.tile_columns);
    return plan;
}

namespace {

/// With fewer rows than this, or as many, there are fewer blocks than the GPU has room for.
std::int64_t rows_that_leave_room(const Kernel& kernel, const ContractionPlan& plan) {
    const Dim& columns = extent_of(kernel, plan.columns);
    const std::int64_t across =
        columns.is_static() ? (columns.value() + plan.tile_columns - 1) / plan.tile_columns : 1;
    if (across == 0) return 0;
    return plan.tile_rows * ((plan.settings.blocks + across - 1) / across - 1);
}

/// The plan for a smaller tile. None where wgmma's operands cannot be copied to it in boxes.
std::optional<ContractionPlan> with_tile(const Kernel& kernel, const ContractionPlan& large,
                                         int tile_rows, int tile_columns) {
    ContractionPlan plan = large;
    plan.tile_rows = tile_rows, plan.tile_columns = tile_columns;
    if (tile_columns == kNarrowColumns) plan.stages *= kNarrowStages;
    if (plan.form == ContractionForm::scalar) plan.threads = tile_rows * tile_columns / 16;
    else plan.threads = plan.form == ContractionForm::group || tile_rows == kMiddle ? 128 : 64;
    plan.a.across = paired_columns(plan, plan.a, plan.tile_rows);
    plan.b.across = paired_columns(plan, plan.b, plan.loaded_columns());
    if (!plan.copies_boxes()) return plan;
    plan.a.boxes = find_boxes(kernel, plan, plan.a, plan.tile_rows);
    plan.b.boxes = find_boxes(kernel, plan, plan.b, plan.loaded_columns());
    if (plan.a.boxes && plan.b.boxes) return plan;
    return std::nullopt;
}

}  // namespace

std::vector<ContractionPlan> plan_contractions(const Kernel& kernel,
                                               const ContractionSettings& settings) {
    ContractionPlan large = plan_contraction(kernel, settings);
    if (large.form == ContractionForm::vector || !large.points.empty()) return {large};
    const std::int64_t small = rows_that_leave_room(kernel, large);
    if (extent_of(kernel, large.rows).is_static() || small == 0) return {large};
    std::vector<ContractionPlan> plans;
    const auto add = [&](std::optional<ContractionPlan> plan, std::int64_t most) {
        if (!plan || most < large.taken.least) return;
        plan->taken = {large.taken.least, most};
        large.taken.least = most + 1;
        plans.push_back(std::move(*plan));
    };
    const int rows = large.form == ContractionForm::group ? kGroupRows : kNarrowRows;
    add(with_tile(kernel, large, rows, kNarrowColumns), std::min(kFewRows, small));
    if (large.tile_rows > kMiddle) add(with_tile(kernel, large, kMiddle, kMiddle), small);
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
