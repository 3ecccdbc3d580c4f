// What a kernel with loops over tiles becomes on the CPU: which values are kept in arrays, which
// axis lies in their lanes, and the statements that fill them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/analysis/task.h"
#include "codegen/kernel/kernel.h"
#include "codegen/kernel/tile_schedule.h"

namespace fovea::emit {

/// The axes of a tile where it is computed or kept: [row, lane]; -1: none.
struct Place2 {
    kernel::AxisId row = -1, lane = -1;
    bool operator==(const Place2&) const = default;
};

struct Statement {
    enum class Kind {
        scalar,  // numbers and stores of numbers
        lanes,   // vectors of lanes, each with passes over rows
        sum,     // a contraction or a reduction of three axes, and what is made of it
        joint,   // sums over either of two axes, of terms that share values
        across,  // reductions along the lanes, row by row
        turn,    // what is made of a tile of memory with its columns in the lanes
        widen,   // floats of a tile of memory that holds halves
        pair,    // an operand of sums with two steps side by side
        mask,    // a tile in place, where a tile of the loop is not valid whole
        fill,    // what a carried value starts with
        draw,    // dropout's factors
        loop,
    };
    Kind kind = Kind::scalar;
    Place2 place;
    kernel::AxisId step = -1;  // of a sum or an operand; of joint sums the axis beside place.row
    bool has_few_rows = false;  // of a sum: its lanes are rows of memory, which stay as they lie
    kernel::Id source = -1;  // the sum, the loop, what is turned, widened or paired
    kernel::Id start = -1;  // what a sum begins with, or -1
    kernel::Id value = -1;  // the node that the finished sum is the value of; what is made again
    std::vector<kernel::Id> roots;  // values and stores, in order
};

/// A copy or a value in memory of the kernel's own, [row, lane].
struct TileArray {
    Place2 place;
    kernel::Id home = -1;  // the loop in whose block it lives; -1: the task
};

struct TilePlan {
    kernel::Kernel kernel;  // after the rewrites
    target::CpuTiles target;
    kernel::TileSchedule schedule;
    std::vector<kernel::AxisId> each;
    kernel::AxisId par = -1;
    std::map<kernel::Id, std::vector<Statement>> blocks;  // by loop; -1: the task
    std::map<kernel::Id, kernel::Id> storage;  // node -> the node whose array or number it uses
    std::map<kernel::Id, TileArray> arrays;  // by the node that `storage` names
    /// By load: its copy with columns in the lanes; by value: what is made of that copy.
    std::map<kernel::Id, TileArray> turned;
    std::map<kernel::Id, TileArray> widened;  // by load: floats of its halves, as they lie
    std::set<kernel::Id> sums_of_pairs;  // contractions that take two steps at once
    std::map<kernel::Id, kernel::Id> home;  // of every load of a tile: the loop, or -1
    std::set<kernel::Id> roots;  // nodes that a statement computes
    std::map<kernel::AxisId, int> depths;  // in one tile: how deep the axes' loops were

    /// Whether all axes with loops are one tile, and everything is in the task's block.
    bool in_one_tile() const { return !depths.empty(); }
    /// The node whose array or number keeps the value of `id`.
    kernel::Id owner(kernel::Id id) const {
        const auto found = storage.find(id);
        return found == storage.end() ? id : found->second;
    }
    bool is_tiled(kernel::AxisId axis) const { return schedule.tiles.contains(axis); }
};

/// The statements of a plan that has a kernel, a target and a schedule, for the kernel's task.
/// Throws kernel::TileRefusal, as those below.
TilePlan plan_task(TilePlan plan, const kernel::Task& task);
TilePlan plan_tiles(const kernel::Kernel& kernel, const target::CpuTiles& target);
/// The plan of a second form for sizes at which every axis with a loop is one small tile, if the
/// kernel has such a form.
std::optional<TilePlan> plan_one_tile(const kernel::Kernel& kernel, const target::CpuTiles& target);

}  // namespace fovea::emit
