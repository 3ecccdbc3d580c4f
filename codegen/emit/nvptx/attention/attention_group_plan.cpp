#include "codegen/emit/nvptx/attention/attention_group_plan.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/contraction/check_schedule.h"
#include "codegen/emit/nvptx/halves.h"
#include "codegen/emit/nvptx/tensor_map.h"
#include "codegen/emit/nvptx/tiles/tile_matrix_plan.h"
#include "codegen/kernel/analysis/blocks.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

using Plan = AttentionGroupPlan;

constexpr int kFewestKeys = 32;  // of a tile

[[noreturn]] void refuse_group(std::string reason) { throw TileRefusal{std::move(reason)}; }

class GroupPlanner {
  public:
    GroupPlanner(Plan& plan, const TileMatrixPlan& matrices)
        : plan_(plan), kernel_(plan.kernel), matrices_(matrices), users_(users_of(plan.kernel)) {}

    void run() {
        find_loop();
        plan_.half = half_of_products(kernel_);
        find_products();
        for (Plan::Sum& sum : plan_.sums) find_sum(sum);
        plan_.only_adds = only_adds();
        if (plan_.only_adds) order_sums();
        else check_rescaled_sum();
        plan_.tile_columns = plan_.only_adds ? columns_beside_sums() : keys_at_once();
        plan_.masks_last_alone = loop().lower < 0 && ends_in_last_tile(loop().upper);
        plan_.reads_ahead = can_read_ahead();
        plan_.has_padding = !ends_with_axis(loop().upper);
        for (Plan::Operand& operand : plan_.fixed) operand.rows = Plan::tile_rows();
        for (Plan::Operand& operand : plan_.moving) operand.rows = plan_.tile_columns;
        for (std::vector<Plan::Operand>* operands : {&plan_.fixed, &plan_.moving})
            for (Plan::Operand& operand : *operands) add_map(operand);
        if (plan_.shared_bytes() > plan_.target.groups.shared_bytes)
            refuse_group("tiles too wide for shared memory");
    }

  private:
    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }
    bool has(Id id, AxisId axis) const {
        return std::find(axes(id).begin(), axes(id).end(), axis) != axes(id).end();
    }
    bool has_rows(Id id) const { return has(id, plan_.rows); }
    const Loop& loop() const { return *as<Loop>(kernel_, plan_.loop); }

    void find_loop() {
        for (Id id : plan_.task) {
            if (as<Contract>(kernel_, id)) refuse_group("a product outside of a loop over tiles");
            if (!as<Loop>(kernel_, id)) continue;
            if (plan_.loop >= 0) refuse_group("several loops over tiles");
            plan_.loop = id;
        }
        if (plan_.loop < 0) refuse_group("no loop over tiles");
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
               plan_.tile_columns == Plan::tile_rows();
    }

    /// Whether a bound is the end of the loop's axis, or lets no position through.
    bool ends_with_axis(Id bound) const {
        if (bound < 0) return true;
        if (auto number = as<Constant>(kernel_, bound)) return number->value <= 0;
        if (auto extent = as<Extent>(kernel_, bound))
            return extent->dim == kernel_.axes[std::size_t(loop().axis)].extent;
        const Map* map = as<Map>(kernel_, bound);
        return map && map->function == Elementwise::where && ends_with_axis(map->operands[1]) &&
               ends_with_axis(map->operands[2]);
    }

    /// Nodes of a tile that each take a register for each of its elements: random numbers, and what
    /// is loaded for each of them.
    int tiles_beside_scores() const {
        int more = 0;
        for (Id id : loop().body)
            more += as<Random>(kernel_, id) ||
                    (as<Load>(kernel_, id) && has_rows(id) && has(id, loop().axis));
        return more;
    }

    /// Whether the row of a table is picked for each element, which takes registers, too.
    bool picks_rows() const {
        const std::vector<Id>& body = loop().body;
        return std::any_of(body.begin(), body.end(), [&](Id id) {
            const Load* load = as<Load>(kernel_, id);
            return load && load->access.row >= 0 && has_rows(id) && has(id, loop().axis);
        });
    }

    /// Scores of 128 keys and sums of 128 columns fill the registers: fewer keys where there is
    /// more for each of them.
    int keys_at_once() const {
        const int free = columns_of(plan_.sums[0]) > 64 || picks_rows() ? 0 : 1;
        return std::max(kFewestKeys,
                        plan_.target.groups.columns >> std::max(0, tiles_beside_scores() - free));
    }

    /// A thread has half as many elements of a tile as that has columns.
    int columns_beside_sums() const {
        const int tiles = int(plan_.scores.size()) + tiles_beside_scores();
        for (int columns = plan_.target.groups.columns; columns >= kFewestKeys; columns /= 2) {
            const int weights = columns / 4;  // of one sum, in halves
            if (registers_of_sums() + tiles * columns / 2 + weights <=
                plan_.target.groups.registers)
                return columns;
        }
        refuse_group("tiles too wide for registers");
    }
    int registers_of_sums() const {
        int registers = 0;
        for (const Plan::Sum& sum : plan_.sums) registers += columns_of(sum) / 2;
        return registers;
    }

    /// Whether what is loaded for each position of a tile fits beside its scores; random numbers
    /// need registers while they are made.
    bool can_read_ahead() const {
        int loads = 0;
        for (Id id : loop().body) {
            loads += as<Load>(kernel_, id) && axes(id) == std::vector{loop().axis};
            if (as<Random>(kernel_, id)) return false;
        }
        const int tiles = int(plan_.scores.size()) + tiles_beside_scores();
        return registers_of_sums() + tiles * plan_.tile_columns / 2 +
                   loads * plan_.tile_columns / 4 <=
               plan_.target.groups.ahead_registers;
    }
    int columns_of(const Plan::Sum& sum) const {
        const std::vector<AxisId>& own = axes(sum.product);
        return matrices_.length(own[own[0] == plan_.rows ? 1 : 0]);
    }

    void find_products() {
        for (Id id : loop().body) {
            if (as<Store>(kernel_, id)) refuse_group("a store inside of its loop");
            if (as<Reduce>(kernel_, id) && axes(id) != std::vector{plan_.rows})
                refuse_group("a reduction inside of its loop over another axis than the keys");
            const Contract* contract = as<Contract>(kernel_, id);
            if (!contract) continue;
            const Id rows = has_rows(contract->a) ? contract->a : contract->b;
            const Id columns = rows == contract->a ? contract->b : contract->a;
            const bool loads = as<Load>(kernel_, rows);
            const TileMatrixPlan::Operand& operand = matrices_.operands.at(columns);
            const bool sums_tile = contract->axes[0] == loop().axis;
            if (operand.home != plan_.loop || operand.row != loop().axis || sums_tile == loads)
                refuse_group(
                    "products that are not of queries and keys, then of weights and values");
            const std::size_t moving = number_of(plan_.moving, columns);
            if (loads) plan_.scores.push_back({id, number_of(plan_.fixed, rows), moving});
            else plan_.sums.push_back({id, rows, moving});
        }
        if (plan_.scores.empty() || plan_.sums.empty())
            refuse_group("other products than of queries and keys, and of weights and values");
    }

    /// The number of an operand, which is added where there is none.
    static std::size_t number_of(std::vector<Plan::Operand>& operands, Id load) {
        const auto found = std::find_if(operands.begin(), operands.end(),
                                        [&](const Plan::Operand& one) { return one.load == load; });
        const auto number = std::size_t(found - operands.begin());
        if (found == operands.end()) operands.emplace_back().load = load;
        return number;
    }

    Id added(const Plan::Sum& sum) const { return users_[std::size_t(sum.product)][0]; }

    void find_sum(Plan::Sum& sum) {
        const std::vector<Id>& users = users_[std::size_t(sum.product)];
        const Map* add = users.size() == 1 ? as<Map>(kernel_, users[0]) : nullptr;
        if (!add || add->function != Elementwise::add || axes(users[0]) != axes(sum.product))
            refuse_group("a product of weights and values that is not summed over the tiles");
        const std::vector<Carry>& carries = loop().carries;
        const auto carry = std::find_if(carries.begin(), carries.end(),
                                        [&](const Carry& one) { return one.next == users[0]; });
        if (carry == carries.end() || users_[std::size_t(users[0])] != std::vector<Id>{plan_.loop})
            refuse_group("a sum of weighted values that is read inside of its loop");
        sum.carry = std::size_t(carry - carries.begin());
    }

    bool only_adds() const {
        const auto is_plain = [&](const Plan::Sum& sum) {
            const Id argument = loop().carries[sum.carry].argument;
            return users_[std::size_t(argument)] == std::vector<Id>{added(sum)};
        };
        const auto reduces = [&](Id id) { return as<Reduce>(kernel_, id); };
        return plan_.sums.size() == loop().carries.size() &&
               std::all_of(plan_.sums.begin(), plan_.sums.end(), is_plain) &&
               std::none_of(loop().body.begin(), loop().body.end(), reduces);
    }

    /// All nodes of the loop that are made of some.
    std::set<Id> made_of(Id some) const {
        std::set<Id> made{some};
        for (Id id : loop().body)
            for (Id operand : operands_of(kernel_, id))
                if (made.contains(operand)) made.insert(id);
        return made;
    }

    void order_sums() {
        for (std::size_t i = 0; i < plan_.scores.size(); ++i) {
            const std::set<Id> made = made_of(plan_.scores[i].product);
            for (Plan::Sum& sum : plan_.sums)
                if (made.contains(sum.weights)) sum.scores = i + 1;
        }
        std::stable_sort(
            plan_.sums.begin(), plan_.sums.end(),
            [](const Plan::Sum& a, const Plan::Sum& b) { return a.scores < b.scores; });
    }

    /// What is made of the sum must not be needed until the next tile's scores are weights.
    void check_rescaled_sum() const {
        if (plan_.sums.size() > 1 || plan_.scores.size() > 1)
            refuse_group("several products of a kind, and more in its loop than sums of them");
        const Plan::Sum& sum = plan_.sums[0];
        const std::set<Id> made = made_of(loop().carries[sum.carry].argument);
        std::set<Id> needed{sum.weights, plan_.scores[0].product};
        for (const Carry& carry : loop().carries)
            if (carry.next != added(sum)) needed.insert(carry.next);
        if (std::any_of(needed.begin(), needed.end(), [&](Id id) { return made.contains(id); }))
            refuse_group("weights that depend on the sum of the tiles before");
    }

    void add_map(Plan::Operand& operand) {
        const Access& access = as<Load>(kernel_, operand.load)->access;
        const Buffer& buffer = kernel_.buffers[std::size_t(access.buffer)];
        if (buffer.dtype != plan_.half)
            refuse_group(buffer.name + " in memory as " + std::string(long_name_of(buffer.dtype)));
        const TileMatrixPlan::Operand& tile = matrices_.operands.at(operand.load);
        operand.columns = matrices_.length(tile.column);
        if (operand.columns != 64 && operand.columns != 128)
            refuse_group("rows of " + std::to_string(operand.columns) +
                         " elements, not of 64 or 128");
        operand.map = {access.buffer, access.offset, {}, 128};
        add_axis(operand, access, tile.column, Plan::kBoxColumns);
        add_axis(operand, access, tile.row, operand.rows);
        for (AxisId point : plan_.points) add_axis(operand, access, point, 1);
        if (auto reason = why_not_tensor_map(kernel_, operand.map))
            refuse_group(buffer.name + " in memory in a way that no copy takes: " + *reason);
    }

    void add_axis(Plan::Operand& operand, const Access& access, AxisId axis, int box) {
        for (const Stride& stride : access.strides) {
            if (stride.axis != axis) continue;
            if (stride.panel) refuse_group("an operand in panels");
            operand.axes.push_back(axis);
            operand.map.axes.push_back(
                {kernel_.axes[std::size_t(axis)].extent, stride.stride, box});
        }
    }

    Plan& plan_;
    const Kernel& kernel_;
    const TileMatrixPlan& matrices_;
    std::vector<std::vector<Id>> users_;
};

}  // namespace

int AttentionGroupPlan::shared_bytes() const {
    int bytes = 0;
    for (const Operand& operand : fixed) bytes += operand.bytes();
    for (const Operand& operand : moving) bytes += kStages * operand.bytes();
    return bytes;
}

AttentionGroupPlan plan_attention_group(const Kernel& kernel, const target::Gpu& target) {
    const TileMatrixPlan matrices = plan_tile_matrices(kernel, target);
    AttentionGroupPlan plan;
    plan.target = target;
    plan.kernel = matrices.kernel;
    plan.points = matrices.points;
    plan.rows = matrices.rows;
    plan.task = matrices.task;
    GroupPlanner(plan, matrices).run();
    check_registers(kernel, plan.target.groups.bringing_registers,
                    plan.target.groups.computing_registers,
                    "gpu.groups.bringing_registers and computing_registers");
    return plan;
}

std::optional<std::string> why_not_attention_group(const Kernel& kernel,
                                                   const target::Gpu& target) {
    try {
        plan_attention_group(kernel, target);
    } catch (const TileRefusal& refusal) {
        return "it has " + refusal.reason;
    }
    return std::nullopt;
}

}  // namespace fovea::emit::nvptx
