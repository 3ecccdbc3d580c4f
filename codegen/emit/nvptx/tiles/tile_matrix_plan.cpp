#include "codegen/emit/nvptx/tiles/tile_matrix_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/emit/nvptx/contraction/operand_plan.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

constexpr int kFewestColumns = 16;  // of a tile: of an instruction

[[noreturn]] void refuse_matrices(std::string reason) { throw TileRefusal{std::move(reason)}; }

class MatrixPlanner {
  public:
    explicit MatrixPlanner(TileMatrixPlan& plan)
        : plan_(plan),
          kernel_(plan.kernel),
          users_(users_of(plan.kernel)),
          positions_(positions_of(plan.kernel)) {}

    void run() {
        plan_.half = half_of_products(kernel_);
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (auto contract = as<Contract>(kernel_, id)) add(id, *contract);
        if (plan_.operands.empty()) refuse_matrices("no product of matrices");
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id) check(id);
        // Where more than two products are at work, longer tiles would not fit the registers.
        const target::GpuMatrices& target = plan_.target.matrices;
        const int most = products_ > 2 ? target.crowded_columns : target.columns;
        for (int columns = most; columns >= kFewestColumns; columns /= 2) {
            plan_.tile_columns = columns;
            place_operands();
            if (plan_.shared_bytes > target.shared_bytes) continue;
            if (tile_registers() > target.registers && columns > kFewestColumns) continue;
            keep_in_registers();
            return;
        }
        refuse_matrices("tiles too wide for shared memory");
    }

  private:
    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    bool has(Id id, AxisId axis) const {
        return std::find(axes(id).begin(), axes(id).end(), axis) != axes(id).end();
    }

    void add(Id id, const Contract& contract) {
        if (!is_half(contract.factors)) refuse_matrices("a product of floats");
        if (dtype_of(contract.factors) != plan_.half)
            refuse_matrices("products of bfloat16 and of float16");
        ++products_;
        if (contract.axes.size() != 1 || axes(id).size() != 2 || !has(id, plan_.rows))
            refuse_matrices("a product that is no tile of rows and columns");
        for (Id operand : {contract.a, contract.b}) {
            if (axes(operand).size() != 2)
                refuse_matrices("a product of tiles of other than two axes");
            const bool is_rows = has(operand, plan_.rows);
            if (as<Load>(kernel_, operand)) add_operand(operand);
            else if (!is_rows) refuse_matrices("columns of a product that are computed");
        }
        if (has(contract.a, plan_.rows) == has(contract.b, plan_.rows))
            refuse_matrices("a product of two tiles with the rows");
    }

    /// The axis with a loop, or that of the rows, is the operand's row.
    void add_operand(Id id) {
        const Access& access = as<Load>(kernel_, id)->access;
        if (access.row >= 0) refuse_matrices("gathered rows of a product");
        TileMatrixPlan::Operand operand;
        for (AxisId axis : axes(id)) {
            const bool moves = axis == plan_.rows || loop_of(id, axis) >= 0;
            (moves ? operand.row : operand.column) = axis;
            if (axis != plan_.rows && moves) operand.home = loop_of(id, axis);
        }
        if (operand.row < 0 || operand.column < 0)
            refuse_matrices("a product of tiles along other axes than a loop's and one without");
        for (Id user : users_[std::size_t(id)])
            if (!as<Contract>(kernel_, user))
                refuse_matrices("an operand of a product that is read elsewhere");
        if (kernel_.buffers[std::size_t(access.buffer)].dtype != plan_.half)
            operand.why_not_asynchronous =
                "it is no " + std::string(long_name_of(plan_.half)) + " in memory";
        else if (!lies_in_groups(kernel_, access, operand.column, 8))
            operand.why_not_asynchronous = "its rows are no pieces of 16 bytes";
        plan_.operands[id] = operand;
    }

    /// The loop over tiles of an axis around a node; -1: none.
    Id loop_of(Id id, AxisId axis) const {
        for (Id loop : positions_[std::size_t(id)].loops)
            if (as<Loop>(kernel_, loop)->axis == axis &&
                as<Loop>(kernel_, loop)->kind == LoopKind::tiles)
                return loop;
        return -1;
    }

    void check(Id id) const {
        const std::vector<AxisId>& own = axes(id);
        if (own.size() > 2 ||
            (own.size() == 2 && !plan_.operands.contains(id) && !has(id, plan_.rows)))
            refuse_matrices("a tile of other axes than the rows and one of columns");
        if (auto loop = as<Loop>(kernel_, id); loop && loop->kind == LoopKind::tiles) {
            if (positions_[std::size_t(id)].loops.size() > plan_.points.size() + 1)
                refuse_matrices("loops over tiles inside each other");
            for (Id bound : {loop->lower, loop->upper})
                if (bound >= 0 && !axes(bound).empty() && axes(bound) != std::vector{plan_.rows})
                    refuse_matrices("a bound of a loop along another axis than the rows");
        }
        if (auto reduce = as<Reduce>(kernel_, id))
            if (reduce->blocks >= 0 || reduce->axes.size() != 1 || reduce->axes[0] == plan_.rows)
                refuse_matrices("a sum over the rows");
        if (auto store = as<Store>(kernel_, id)) {
            if (store->access.row >= 0) refuse_matrices("a store to gathered rows");
            if (!has(store->value, plan_.rows)) refuse_matrices("a store of a value without rows");
            for (const Stride& stride : store->access.strides)
                if (!has(store->value, stride.axis) &&
                    std::find(plan_.points.begin(), plan_.points.end(), stride.axis) ==
                        plan_.points.end())
                    refuse_matrices("a store along another axis than its value's");
        }
        if (auto load = as<Load>(kernel_, id))
            if (kernel_.buffers[std::size_t(load->access.buffer)].written)
                refuse_matrices("a buffer that it reads and writes");
        for (AxisId axis : own) {
            const Dim& extent = kernel_.axes[std::size_t(axis)].extent;
            if (axis == plan_.rows || is_looped(axis)) continue;
            if (!extent.is_static() || extent.value() % 16 != 0 || extent.value() > 128)
                refuse_matrices("columns that are no multiple of 16, or more than 128");
        }
    }

    bool is_looped(AxisId axis) const {
        return std::any_of(kernel_.nodes.begin(), kernel_.nodes.end(), [&](const Node& node) {
            auto loop = std::get_if<Loop>(&node.operation);
            return loop && loop->kind == LoopKind::tiles && loop->axis == axis;
        });
    }

    void place_operands() {
        int bytes = 0;
        for (auto& [id, operand] : plan_.operands) {
            if (operand.has_stages()) continue;
            operand.offset = bytes;
            bytes += plan_.bytes(operand);
        }
        plan_.stage_bytes = 0;
        for (auto& [id, operand] : plan_.operands) {
            if (!operand.has_stages()) continue;
            operand.offset = bytes + plan_.stage_bytes;
            plan_.stage_bytes += plan_.bytes(operand);
        }
        plan_.shared_bytes = bytes + TileMatrixPlan::kStages * plan_.stage_bytes;
    }

    /// The first operands of products in loops, if all of them fit beside the tiles.
    void keep_in_registers() {
        int registers = tile_registers();
        std::vector<TileMatrixPlan::Operand*> all;
        for (auto& [id, operand] : plan_.operands) {
            if (operand.row != plan_.rows) continue;
            all.push_back(&operand);
            registers += tile(id) / 2;
        }
        for (TileMatrixPlan::Operand* operand : all)
            operand->in_registers = registers <= plan_.target.matrices.kept_registers;
    }
    /// Elements of products and carried tiles that a thread has.
    int tile_registers() const {
        int registers = 0;
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (as<Contract>(kernel_, id) || as<Carried>(kernel_, id)) registers += tile(id);
        return registers;
    }
    /// Elements of a tile that a thread has; a sum that is carried is counted with its product.
    int tile(Id id) const {
        if (axes(id).size() != 2) return 0;
        const AxisId column = axes(id)[axes(id)[0] == plan_.rows ? 1 : 0];
        const bool is_sum = as<Contract>(kernel_, id) && !is_looped(column);
        return is_sum ? 0 : plan_.length(column) / 2;
    }

    TileMatrixPlan& plan_;
    const Kernel& kernel_;
    std::vector<std::vector<Id>> users_;
    std::vector<Position> positions_;
    int products_ = 0;
};

}  // namespace

int TileMatrixPlan::length(AxisId axis) const {
    if (axis == rows) return tile_rows();
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            if (loop->axis == axis && loop->kind == LoopKind::tiles) return tile_columns;
    return int(kernel.axes[std::size_t(axis)].extent.value());
}

std::string print(const TileMatrixPlan& plan) {
    std::string text = fmt::format("{} rows, tiles of {} columns, {} bytes", plan.tile_rows(),
                                   plan.tile_columns, plan.shared_bytes);
    for (const auto& [id, operand] : plan.operands) {
        text += fmt::format("; {}:", plan.kernel.nodes[std::size_t(id)].name);
        if (!operand.is_asynchronous())
            text += fmt::format(" through registers, for {}", operand.why_not_asynchronous);
        else text += operand.has_stages() ? " a tile ahead" : " at once";
        if (operand.in_registers) text += ", kept in registers";
    }
    return text;
}

TileMatrixPlan plan_tile_matrices(const Kernel& kernel, const target::Gpu& target) {
    TileMatrixPlan plan;
    plan.target = target;
    plan.kernel = kernel;
    drop_certain_masks(plan.kernel);
    split_reductions(plan.kernel);
    drop_unused(plan.kernel);
    renumber(plan.kernel);
    const Task task = take_task(plan.kernel);
    plan.points = task.points, plan.rows = task.par, plan.task = task.nodes;
    if (plan.rows < 0) refuse_matrices("no axis of independent tiles");
    MatrixPlanner(plan).run();
    return plan;
}

}  // namespace fovea::emit::nvptx
