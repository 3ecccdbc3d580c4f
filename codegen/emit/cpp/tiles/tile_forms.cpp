// The two plans of a kernel: with loops over tiles, and without.
#include <algorithm>

#include "codegen/emit/cpp/tiles/tile_plan.h"
#include "codegen/kernel/rewrites/one_tile.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"

namespace fovea::emit {

using namespace kernel;

namespace {

/// What a thread does at a time; the loops of points and tiles around it are the threads'.
Task task_of(const Kernel& kernel) {
    Task task = take_task(kernel);
    if (task.works_outside)
        throw TileRefusal{"a store or a loop over tiles beside a loop of points"};
    if (task.points_inside) throw TileRefusal{"a loop of points inside of one of tiles"};
    return task;
}

/// Counts of positions, and the numbers they are made of, come before what is counted.
void put_counts_first(TilePlan& plan) {
    std::set<Id> numbers;
    std::vector<Statement>& block = plan.blocks.at(-1);
    for (const Statement& statement : block)
        if (statement.kind == Statement::Kind::loop)
            add_with_operands(plan.kernel, as<Loop>(plan.kernel, statement.source)->upper, numbers);
    const auto rank = [&](const Statement& statement) {
        if (statement.kind == Statement::Kind::loop) return 1;
        return statement.kind == Statement::Kind::scalar && numbers.contains(statement.roots[0])
                   ? 0
                   : 2;
    };
    std::stable_sort(block.begin(), block.end(),
                     [&](const Statement& a, const Statement& b) { return rank(a) < rank(b); });
}

}  // namespace

TilePlan plan_tiles(const Kernel& kernel, const target::CpuTiles& target) {
    TilePlan plan;
    plan.kernel = rewrite_for_tiles(kernel);
    plan.target = target;
    plan.schedule = tile_schedule(plan.kernel, target);
    const Task task = task_of(plan.kernel);
    return plan_task(std::move(plan), task);
}

std::optional<TilePlan> plan_one_tile(const Kernel& kernel, const target::CpuTiles& target) {
    TilePlan plan;
    plan.kernel = rewrite_for_tiles(kernel);
    plan.target = target;
    plan.schedule = tile_schedule(plan.kernel, target);
    if (plan.schedule.small_tile == 0) return std::nullopt;
    for (auto& [axis, size] : plan.schedule.tiles) size = plan.schedule.small_tile;
    const auto depths = take_one_tile(plan.kernel);
    if (!depths) return std::nullopt;
    plan.depths = *depths;
    const Task task = task_of(plan.kernel);
    plan = plan_task(std::move(plan), task);
    put_counts_first(plan);
    return plan;
}

}  // namespace fovea::emit
