// Numbers that are made around the loops are made again in every task: they are few.
#include "codegen/emit/cpp/tile_task.h"

namespace fovea::emit {

using namespace kernel;

std::vector<Id> take_task(TilePlan& plan, const std::vector<Id>& block) {
    std::vector<Id> task, rest;
    Id inner = -1;
    for (Id id : block) {
        auto loop = as<Loop>(plan.kernel, id);
        const bool splits = loop && loop->kind != LoopKind::tiles;
        if (splits && inner >= 0) throw TileRefusal{"two loops of points side by side"};
        if (splits) inner = id;
        else (inner < 0 ? task : rest).push_back(id);
    }
    if (inner < 0) return task;
    for (const std::vector<Id>* nodes : {&task, &rest})
        for (Id id : *nodes)
            if (as<Loop>(plan.kernel, id) || as<Store>(plan.kernel, id))
                throw TileRefusal{"a store or a loop over tiles beside a loop of points"};
    const Loop& loop = *as<Loop>(plan.kernel, inner);
    if (loop.kind == LoopKind::seq) throw TileRefusal{"a loop of points in order"};
    if (loop.kind == LoopKind::each && plan.par >= 0)
        throw TileRefusal{"a loop of points inside of one of tiles"};
    if (loop.kind == LoopKind::par && plan.par >= 0) throw TileRefusal{"two loops of par tiles"};
    if (loop.kind == LoopKind::each) plan.each.push_back(loop.axis);
    else plan.par = loop.axis;
    const std::vector<Id> nodes = take_task(plan, loop.body);
    task.insert(task.end(), nodes.begin(), nodes.end());
    return task;
}

}  // namespace fovea::emit
