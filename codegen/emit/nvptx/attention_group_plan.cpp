#include "codegen/emit/nvptx/attention_group_plan.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/tensor_map.h"
#include "codegen/emit/nvptx/tile_matrix_plan.h"
#include "codegen/kernel/blocks.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

[[noreturn]] void refuse(std::string reason) { throw TileRefusal{std::move(reason)}; }

class Planner {
  public:
    Planner(AttentionGroupPlan& plan, const TileMatrixPlan& matrices)
        : plan_(plan), kernel_(plan.kernel), matrices_(matrices), users_(users_of(plan.kernel)) {}

    void run() {
        find_loop();
        find_products();
        find_sum();
        plan_.tile_columns = keys_at_once();
        plan_.masks_last_alone = loop().lower < 0 && ends_in_last_tile(loop().upper);
        plan_.queries.rows = AttentionGroupPlan::tile_rows();
        plan_.keys.rows = plan_.values.rows = plan_.tile_columns;
        for (AttentionGroupPlan::Operand* operand : {&plan_.queries, &plan_.keys, &plan_.values})
            add_map(*operand);
    }

  private:
    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    bool has_rows(Id id) const {
        return std::find(axes(id).begin(), axes(id).end(), plan_.rows) != axes(id).end();
    }
    const Loop& loop() const { return *as<Loop>(kernel_, plan_.loop); }

    void find_loop() {
        for (Id id : plan_.task) {
            if (as<Contract>(kernel_, id)) refuse("a product outside of a loop over tiles");
            if (!as<Loop>(kernel_, id)) continue;
            if (plan_.loop >= 0) refuse("several loops over tiles");
            plan_.loop = id;
        }
        if (plan_.loop < 0) refuse("no loop over tiles");
    }

    /// Whether a bound is the same for all rows of a block, or, where tiles of keys have as many
    /// positions as those of rows, each row's own position, itself included.
    bool ends_in_last_tile(Id bound) const {
        if (bound < 0 || axes(bound).empty()) return true;
        const Map* map = as<Map>(kernel_, bound);
        if (!map || map->operands.size() != 2) return false;
        const Id a = map->operands[0], b = map->operands[1];
        if (map->function == Elementwise::minimum)
            return ends_in_last_tile(a) && ends_in_last_tile(b);
        const auto is_next = [&](Id index, Id one) {
            const Index* position = as<Index>(kernel_, index);
            const Constant* number = as<Constant>(kernel_, one);
            return position && number && position->axis == plan_.rows && number->value == 1;
        };
        return map->function == Elementwise::add && (is_next(a, b) || is_next(b, a)) &&
               plan_.tile_columns == AttentionGroupPlan::tile_rows();
    }

    /// Scores of 128 keys and sums of 128 columns fill the registers: fewer keys where scores take
    /// random numbers or what is loaded for each of them.
    int keys_at_once() const {
        int more = 0;
        for (Id id : loop().body)
            more += as<Random>(kernel_, id) ||
                    (as<Load>(kernel_, id) && axes(id).size() == 2 && has_rows(id));
        const int free = matrices_.length(column_of(plan_.output)) > 64 ? 0 : 1;
        return std::max(32, 128 >> std::max(0, more - free));
    }
    AxisId column_of(Id id) const { return axes(id)[axes(id)[0] == plan_.rows ? 1 : 0]; }

    void find_products() {
        for (Id id : loop().body) {
            if (as<Store>(kernel_, id)) refuse("a store inside of its loop");
            if (as<Reduce>(kernel_, id) && axes(id) != std::vector{plan_.rows})
                refuse("a reduction inside of its loop over another axis than the keys");
            const Contract* contract = as<Contract>(kernel_, id);
            if (!contract) continue;
            const Id rows = has_rows(contract->a) ? contract->a : contract->b;
            const Id columns = rows == contract->a ? contract->b : contract->a;
            const bool loads = as<Load>(kernel_, rows);
            Id& product = loads ? plan_.scores : plan_.output;
            if (product >= 0) refuse("several products of a kind");
            product = id;
            if (loads) plan_.queries.load = rows, plan_.keys.load = columns;
            else weights_ = rows, plan_.values.load = columns;
            const TileMatrixPlan::Operand& operand = matrices_.operands.at(columns);
            const bool sums_keys = contract->axes[0] == loop().axis;
            if (operand.home != plan_.loop || operand.row != loop().axis || sums_keys == loads)
                refuse("products that are not of queries and keys, then of weights and values");
        }
        if (plan_.scores < 0 || plan_.output < 0)
            refuse("other products than of queries and keys, and of weights and values");
    }

    /// What is made of the sum must not be needed until the next tile's scores are weights.
    void find_sum() {
        const std::vector<Id>& users = users_[std::size_t(plan_.output)];
        const Map* add = users.size() == 1 ? as<Map>(kernel_, users[0]) : nullptr;
        if (!add || add->function != Elementwise::add || axes(users[0]) != axes(plan_.output))
            refuse("a product of weights and values that is not summed over the tiles");
        for (int i = 0; i < int(loop().carries.size()); ++i)
            if (loop().carries[std::size_t(i)].next == users[0]) plan_.carry = i;
        if (plan_.carry < 0 || users_[std::size_t(users[0])] != std::vector<Id>{plan_.loop})
            refuse("a sum of weighted values that is read inside of its loop");
        std::set<Id> made{loop().carries[std::size_t(plan_.carry)].argument};
        for (Id id : loop().body)
            for (Id operand : operands_of(kernel_, id))
                if (made.contains(operand)) made.insert(id);
        std::set<Id> needed{weights_, plan_.scores};
        for (const Carry& carry : loop().carries)
            if (carry.next != users[0]) needed.insert(carry.next);
        if (std::any_of(needed.begin(), needed.end(), [&](Id id) { return made.contains(id); }))
            refuse("weights that depend on the sum of the tiles before");
    }

    void add_map(AttentionGroupPlan::Operand& operand) {
        const Access& access = as<Load>(kernel_, operand.load)->access;
        const Buffer& buffer = kernel_.buffers[std::size_t(access.buffer)];
        if (buffer.dtype != DType::bf16) refuse(buffer.name + " in memory as float32");
        const TileMatrixPlan::Operand& tile = matrices_.operands.at(operand.load);
        operand.columns = matrices_.length(tile.column);
        if (operand.columns != 64 && operand.columns != 128)
            refuse("rows of " + std::to_string(operand.columns) + " elements, not of 64 or 128");
        operand.map = {access.buffer, access.offset, {}, 128};
        add_axis(operand, access, tile.column, AttentionGroupPlan::kBoxColumns);
        add_axis(operand, access, tile.row, operand.rows);
        for (AxisId point : plan_.points) add_axis(operand, access, point, 1);
        if (auto reason = why_not_tensor_map(kernel_, operand.map))
            refuse(buffer.name + " in memory in a way that no copy takes: " + *reason);
    }

    void add_axis(AttentionGroupPlan::Operand& operand, const Access& access, AxisId axis,
                  int box) {
        for (const Stride& stride : access.strides) {
            if (stride.axis != axis) continue;
            if (stride.panel) refuse("an operand in panels");
            operand.axes.push_back(axis);
            operand.map.axes.push_back(
                {kernel_.axes[std::size_t(axis)].extent, stride.stride, box});
        }
    }

    AttentionGroupPlan& plan_;
    const Kernel& kernel_;
    const TileMatrixPlan& matrices_;
    std::vector<std::vector<Id>> users_;
    Id weights_ = -1;
};

}  // namespace

AttentionGroupPlan plan_attention_group(const Kernel& kernel) {
    const TileMatrixPlan matrices = plan_tile_matrices(kernel);
    AttentionGroupPlan plan;
    plan.kernel = matrices.kernel;
    plan.points = matrices.points;
    plan.rows = matrices.rows;
    plan.task = matrices.task;
    Planner(plan, matrices).run();
    return plan;
}

std::optional<std::string> why_not_attention_group(const Kernel& kernel) {
    try {
        plan_attention_group(kernel);
    } catch (const TileRefusal& refusal) {
        return "it has " + refusal.reason;
    }
    return std::nullopt;
}

}  // namespace fovea::emit::nvptx
