// Steps stand in the order of the program; loaded tiles at the start of the loop they move with.
#include "codegen/emit/nvptx/tiles/tile_plan.h"

#include <algorithm>
#include <set>

#include "codegen/emit/nvptx/tiles/tile_values.h"
#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/rewrites/split_exponentials.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

/// Of shared memory, that every block may have.
constexpr int kSharedBytes = 48 * 1024;
constexpr int kSmallest = 8;  // positions of a tile

[[noreturn]] void refuse(std::string reason) { throw TileRefusal{std::move(reason)}; }

class Planner {
  public:
    Planner(TilePlan& plan, const std::set<Id>& forced)
        : plan_(plan), kernel_(plan.kernel), values_(plan.kernel, forced) {}

    void run(const std::vector<Id>& task) {
        add_block(-1, task);
        for (auto& [loop, steps] : plan_.blocks)
            for (TileStep& step : steps) {
                check(step);
                if (step.array >= 0) plan_.arrays[step.array] = step.axes;
            }
    }

    /// Values that a loop carries which must be kept before their memory is written: those that
    /// read a carried value that is written before, or one of their own at other elements.
    std::set<Id> conflicts() const {
        std::set<Id> found;
        for (const auto& [loop, steps] : plan_.blocks) {
            std::set<Id> written;
            for (const TileStep& step : steps) {
                if (step.kind != TileStep::Kind::next) continue;
                for (const TileRead& read : reads_of(plan_, step)) {
                    const Id array = plan_.kept.at(read.node);
                    if (written.contains(array) || (array == step.array && read.in_sum))
                        found.insert(step.value);
                }
                written.insert(step.array);
            }
        }
        return found;
    }

  private:
    const std::vector<AxisId>& axes(Id id) const { return kernel_.nodes[std::size_t(id)].axes; }

    void add_block(Id block, const std::vector<Id>& ids) {
        plan_.blocks[block];
        for (Id id = 0; id < Id(kernel_.nodes.size()); ++id)
            if (as<Load>(kernel_, id) && values_.is_kept(id) && values_.home_of(id) == block &&
                as<Load>(kernel_, id)->access.row < 0)
                add_kept(block, id);
        for (Id id : ids) {
            if (as<Loop>(kernel_, id)) add_loop(block, id);
            else if (as<Store>(kernel_, id)) add_store(block, id);
            else if (values_.is_kept(id) && !plan_.kept.contains(id)) add_kept(block, id);
        }
    }

    void add_kept(Id block, Id id) {
        const std::vector<Id> sums =
            as<Load>(kernel_, id) ? std::vector<Id>{} : values_.sums_in(id);
        plan_.blocks[block].push_back({TileStep::Kind::keep, id, -1, id, axes(id), sums, id});
        plan_.kept[id] = id;
    }

    void add_store(Id block, Id id) {
        const Store& store = *as<Store>(kernel_, id);
        plan_.blocks[block].push_back({TileStep::Kind::store, id, -1, store.value,
                                       values_.axes_of(store), sums_of(store.value)});
    }

    std::vector<Id> sums_of(Id value) {
        return values_.is_kept(value) ? std::vector<Id>{} : values_.sums_in(value);
    }

    void add_loop(Id block, Id id) {
        const Loop& loop = *as<Loop>(kernel_, id);
        for (int i = 0; i < int(loop.carries.size()); ++i) {
            const Carry& carry = loop.carries[std::size_t(i)];
            if (kernel_.nodes[std::size_t(carry.argument)].dtype != DType::f32)
                refuse("a carried value that is no float");
            plan_.blocks[block].push_back({TileStep::Kind::start, id, i, carry.initial,
                                           axes(carry.argument), sums_of(carry.initial),
                                           carry.argument});
            plan_.kept[carry.argument] = carry.argument;
        }
        add_block(id, loop.body);
        for (int i = 0; i < int(loop.carries.size()); ++i) {
            const Carry& carry = loop.carries[std::size_t(i)];
            plan_.blocks[id].push_back({TileStep::Kind::next, id, i, carry.next,
                                        axes(carry.argument), sums_of(carry.next), carry.argument});
        }
        plan_.blocks[block].push_back({TileStep::Kind::loop, id});
        for (Id node = 0; node < Id(kernel_.nodes.size()); ++node)
            if (auto result = as<Result>(kernel_, node); result && result->loop == id)
                plan_.kept[node] = loop.carries[std::size_t(result->number)].argument;
    }

    void check(const TileStep& step) const {
        if (step.axes.size() > 2) refuse("a tile of more than two axes that lies in memory");
        for (Id sum : step.sums) {
            if (auto reduce = as<Reduce>(kernel_, sum); reduce && reduce->blocks >= 0)
                refuse("a sum over blocks of rows");
        }
        if (auto store = as<Store>(kernel_, step.node); store && store->access.row >= 0)
            refuse("a store to gathered rows");
    }

    TilePlan& plan_;
    const Kernel& kernel_;
    TileValues values_;
};

/// Buffers are read as they were before the kernel: a value may be made later than it stands.
void check_buffers(const Kernel& kernel) {
    for (const Node& node : kernel.nodes)
        if (auto load = std::get_if<Load>(&node.operation))
            if (kernel.buffers[std::size_t(load->access.buffer)].written)
                refuse("a buffer that it reads and writes");
}

void choose_tiles(TilePlan& plan) {
    std::vector<AxisId> looped;
    if (plan.par >= 0) looped.push_back(plan.par);
    for (const Node& node : plan.kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            if (loop->kind == LoopKind::tiles) looped.push_back(loop->axis);
    for (AxisId axis = 0; axis < AxisId(plan.kernel.axes.size()); ++axis) {
        const bool is_point =
            std::find(plan.points.begin(), plan.points.end(), axis) != plan.points.end();
        const bool has_loop = std::find(looped.begin(), looped.end(), axis) != looped.end();
        if (!is_point && !has_loop && !plan.kernel.axes[std::size_t(axis)].extent.is_static())
            refuse("an axis without a loop that has no fixed length");
    }
    for (const int most : {kSharedBytes, plan.target.tiles.shared_bytes})
        for (int tile = plan.target.tiles.length; tile > kSmallest; tile /= 2) {
            for (AxisId axis : looped) plan.tiles[axis] = tile;
            if (plan.shared_bytes() <= most) return;
        }
    for (AxisId axis : looped) plan.tiles[axis] = kSmallest;
    if (plan.shared_bytes() > plan.target.tiles.shared_bytes)
        refuse("tiles too wide for shared memory");
}

}  // namespace

int TilePlan::length(AxisId axis) const {
    const Dim& extent = kernel.axes[std::size_t(axis)].extent;
    const auto tile = tiles.find(axis);
    if (tile == tiles.end()) return int(extent.value());
    if (!extent.is_static()) return tile->second;
    return int(std::min<std::int64_t>(tile->second, std::max<std::int64_t>(extent.value(), 1)));
}

int TilePlan::row_length(const std::vector<AxisId>& axes) const {
    return axes.size() == 2 ? length(axes[1]) | 1 : 1;
}

int TilePlan::array_length(const std::vector<AxisId>& axes) const {
    return (axes.empty() ? 1 : length(axes[0])) * row_length(axes);
}

int TilePlan::shared_bytes() const {
    int bytes = 0;
    for (const auto& [id, axes] : arrays) bytes += (array_length(axes) * 4 + 15) / 16 * 16;
    return bytes;
}

int TilePlan::dynamic_bytes() const {
    const int bytes = shared_bytes();
    return bytes > kSharedBytes ? bytes : 0;
}

TilePlan plan_tiles(const Kernel& kernel, const target::Gpu& target) {
    TilePlan plan;
    plan.target = target;
    plan.kernel = kernel;
    drop_certain_masks(plan.kernel);
    split_exponentials(plan.kernel);
    split_reductions(plan.kernel);
    drop_unused(plan.kernel);
    renumber(plan.kernel);
    check_buffers(plan.kernel);
    const Task task = take_task(plan.kernel);
    plan.points = task.points, plan.par = task.par;
    std::set<Id> forced;
    while (true) {
        plan.blocks.clear(), plan.kept.clear(), plan.arrays.clear();
        Planner planner(plan, forced);
        planner.run(task.nodes);
        const std::set<Id> conflicts = planner.conflicts();
        if (conflicts.empty()) break;
        forced.insert(conflicts.begin(), conflicts.end());
    }
    choose_tiles(plan);
    place_barriers(plan);
    return plan;
}

}  // namespace fovea::emit::nvptx
