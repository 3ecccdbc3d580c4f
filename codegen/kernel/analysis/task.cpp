#include "codegen/kernel/analysis/task.h"

namespace fovea::kernel {

namespace {

void take_block(const Kernel& kernel, const std::vector<Id>& block, Task& task) {
    bool inside = false, works = false;
    for (Id id : block) {
        const Loop* loop = as<Loop>(kernel, id);
        if (!loop || loop->kind == LoopKind::tiles) {
            task.nodes.push_back(id);
            works |= loop || as<Store>(kernel, id);
            continue;
        }
        if (loop->kind == LoopKind::seq) throw TileRefusal{"points that go one after the other"};
        if (inside) throw TileRefusal{"several loops of points beside each other"};
        inside = true;
        if (loop->kind == LoopKind::each) {
            task.points_inside |= task.par >= 0;
            task.points.push_back(loop->axis);
        } else {
            if (task.par >= 0) throw TileRefusal{"two axes of independent tiles"};
            task.par = loop->axis;
        }
        take_block(kernel, loop->body, task);
    }
    task.works_outside |= inside && works;
}

}  // namespace

Task take_task(const Kernel& kernel) {
    Task task;
    take_block(kernel, kernel.body, task);
    return task;
}

}  // namespace fovea::kernel
