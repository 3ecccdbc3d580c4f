// Finds pairs of axes that lie in memory as one, and keeps the inner one for both.
#include "codegen/kernel/rewrites/collapse_axes.h"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace fovea::kernel {
namespace {

struct Pair {
    AxisId outer, inner;
};

/// Calls `visit` with every list of strides in the kernel.
template <class Kernel_, class Visit>
void for_all_strides(Kernel_& kernel, const Visit& visit) {
    for (auto& node : kernel.nodes) {
        if (auto load = std::get_if<Load>(&node.operation)) visit(load->access.strides);
        if (auto store = std::get_if<Store>(&node.operation)) visit(store->access.strides);
        if (auto random = std::get_if<Random>(&node.operation))
            visit(random->row), visit(random->column);
    }
}

bool has_panels(const std::vector<Stride>& strides, Pair pair) {
    return std::any_of(strides.begin(), strides.end(), [&](const Stride& stride) {
        return stride.panel && (stride.axis == pair.outer || stride.axis == pair.inner);
    });
}

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Whether a node tells positions along the axis apart, or goes over them tile by tile.
bool needs_axis(const Node& node, AxisId axis) {
    if (auto index = std::get_if<Index>(&node.operation)) return index->axis == axis;
    if (auto constant = std::get_if<Constant>(&node.operation))
        return contains(constant->axes, axis);
    auto loop = std::get_if<Loop>(&node.operation);
    return loop && loop->kind == LoopKind::tiles && loop->axis == axis;
}

bool lies_as_one(const Kernel& kernel, Pair pair) {
    for (const Node& node : kernel.nodes)
        if (needs_axis(node, pair.outer) || needs_axis(node, pair.inner)) return false;

    bool fits = true;
    const Dim extent = kernel.axes[std::size_t(pair.inner)].extent;
    for_all_strides(kernel, [&](const std::vector<Stride>& strides) {
        fits &= !has_panels(strides, pair) &&
                stride_along(strides, pair.outer) == stride_along(strides, pair.inner) * extent;
    });
    return fits;
}

/// Whether every reduction and contraction has both axes, one after the other, or neither.
bool reduced_together(const Kernel& kernel, Pair pair) {
    for (const Node& node : kernel.nodes) {
        const std::vector<AxisId>* axes = nullptr;
        if (auto reduce = std::get_if<Reduce>(&node.operation)) axes = &reduce->axes;
        if (auto contract = std::get_if<Contract>(&node.operation)) axes = &contract->axes;
        if (!axes || (!contains(*axes, pair.outer) && !contains(*axes, pair.inner))) continue;
        const auto outer = std::find(axes->begin(), axes->end(), pair.outer);
        if (outer == axes->end() || outer + 1 == axes->end() || *(outer + 1) != pair.inner)
            return false;
    }
    return true;
}

/// The loop over an axis, or null.
const Loop* loop_over(const Kernel& kernel, AxisId axis) {
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            if (loop->axis == axis) return loop;
    return nullptr;
}

/// The axes without a loop that the tiles of a block have.
std::vector<AxisId> free_axes(const Kernel& kernel, const std::vector<Id>& block) {
    std::vector<AxisId> result;
    const auto add = [&](AxisId axis) {
        if (!loop_over(kernel, axis) && !contains(result, axis)) result.push_back(axis);
    };
    for (Id id : block) {
        for (AxisId axis : kernel.nodes[std::size_t(id)].axes) add(axis);
        if (auto store = as<Store>(kernel, id))
            for (const Stride& stride : store->access.strides) add(stride.axis);
    }
    return result;
}

/// Pairs that stand next to each other, whatever memory says.
std::vector<Pair> neighbours(const Kernel& kernel) {
    std::vector<Pair> pairs;
    for (const Node& node : kernel.nodes) {
        if (auto loop = std::get_if<Loop>(&node.operation)) {
            if (loop->kind == LoopKind::seq) continue;
            bool has_loop = false;
            for (Id id : loop->body)
                if (auto inner = as<Loop>(kernel, id)) {
                    has_loop = true;
                    if (inner->kind == loop->kind || inner->kind == LoopKind::par)
                        pairs.push_back({loop->axis, inner->axis});
                }
            if (!has_loop && loop->kind == LoopKind::each)
                for (AxisId axis : free_axes(kernel, loop->body))
                    pairs.push_back({loop->axis, axis});
        }
        const std::vector<AxisId>* axes = nullptr;
        if (auto reduce = std::get_if<Reduce>(&node.operation)) axes = &reduce->axes;
        if (auto contract = std::get_if<Contract>(&node.operation)) axes = &contract->axes;
        for (std::size_t i = 1; axes && i < axes->size(); ++i)
            pairs.push_back({(*axes)[i - 1], (*axes)[i]});
    }
    return pairs;
}

/// Puts the body of the loop over `axis`, if there is one, in the loop's place.
void dissolve_loop(Kernel& kernel, AxisId axis) {
    const auto splice = [&](std::vector<Id>& block) {
        for (std::size_t i = 0; i < block.size(); ++i) {
            auto loop = as<Loop>(kernel, block[i]);
            if (!loop || loop->axis != axis) continue;
            const std::vector<Id> body = loop->body;
            block.erase(block.begin() + std::ptrdiff_t(i));
            block.insert(block.begin() + std::ptrdiff_t(i), body.begin(), body.end());
            return;
        }
    };
    splice(kernel.body);
    for (Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && loop->axis != axis)
            splice(loop->body);
    for (Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && loop->axis == axis)
            loop->body.clear();
}

/// Numbers the nodes that blocks hold 0, 1, …, and drops the others.
void drop_unplaced_nodes(Kernel& kernel) {
    std::vector<bool> placed(kernel.nodes.size(), false);
    for (Id id : kernel.body) placed[std::size_t(id)] = true;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation))
            for (Id id : loop->body) placed[std::size_t(id)] = true;
    std::vector<Id> number(kernel.nodes.size(), -1);
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (!placed[i]) continue;
        number[i] = Id(nodes.size());
        nodes.push_back(std::move(kernel.nodes[i]));
    }
    kernel.nodes = std::move(nodes);
    const auto renumber = [&](Id& id) {
        if (id >= 0) id = number[std::size_t(id)];
    };
    for (Id& id : kernel.body) renumber(id);
    for (Node& node : kernel.nodes) {
        if (auto load = std::get_if<Load>(&node.operation)) renumber(load->access.row);
        if (auto map = std::get_if<Map>(&node.operation))
            for (Id& id : map->operands) renumber(id);
        if (auto reduce = std::get_if<Reduce>(&node.operation)) renumber(reduce->operand);
        if (auto contract = std::get_if<Contract>(&node.operation))
            renumber(contract->a), renumber(contract->b);
        if (auto store = std::get_if<Store>(&node.operation))
            renumber(store->value), renumber(store->access.row);
        if (auto valid = std::get_if<Valid>(&node.operation))
            renumber(valid->lower), renumber(valid->upper);
        if (auto carried = std::get_if<Carried>(&node.operation)) renumber(carried->initial);
        if (auto result = std::get_if<Result>(&node.operation)) renumber(result->loop);
        if (auto loop = std::get_if<Loop>(&node.operation)) {
            for (Id& id : loop->body) renumber(id);
            renumber(loop->lower), renumber(loop->upper);
            for (Carry& carry : loop->carries)
                renumber(carry.initial), renumber(carry.argument), renumber(carry.next);
        }
    }
}

/// Takes `gone` out of every list of axes and of the kernel; larger numbers move down.
void erase_axis(Kernel& kernel, AxisId gone) {
    const auto renumber = [&](AxisId& axis) { axis -= axis > gone; };
    const auto clean = [&](std::vector<AxisId>& axes) {
        std::erase(axes, gone);
        for (AxisId& axis : axes) renumber(axis);
    };
    for_all_strides(kernel, [&](std::vector<Stride>& strides) {
        std::erase_if(strides, [&](const Stride& stride) { return stride.axis == gone; });
        for (Stride& stride : strides) renumber(stride.axis);
    });
    for (Node& node : kernel.nodes) {
        clean(node.axes);
        if (auto index = std::get_if<Index>(&node.operation)) renumber(index->axis);
        if (auto valid = std::get_if<Valid>(&node.operation)) renumber(valid->axis);
        if (auto constant = std::get_if<Constant>(&node.operation)) clean(constant->axes);
        if (auto reduce = std::get_if<Reduce>(&node.operation)) {
            clean(reduce->axes);
            renumber(reduce->blocks);
        }
        if (auto contract = std::get_if<Contract>(&node.operation)) {
            clean(contract->axes);
            renumber(contract->blocks);
        }
        if (auto loop = std::get_if<Loop>(&node.operation)) renumber(loop->axis);
    }
    kernel.axes.erase(kernel.axes.begin() + gone);
}

void collapse(Kernel& kernel, Pair pair) {
    const Axis& outer = kernel.axes[std::size_t(pair.outer)];
    Axis& inner = kernel.axes[std::size_t(pair.inner)];
    inner.name = outer.name + "_" + inner.name;
    inner.extent = outer.extent * inner.extent;
    dissolve_loop(kernel, pair.outer);
    drop_unplaced_nodes(kernel);
    erase_axis(kernel, pair.outer);
}

std::optional<Pair> find_pair(const Kernel& kernel) {
    for (const Pair& pair : neighbours(kernel))
        if (pair.outer != pair.inner && reduced_together(kernel, pair) && lies_as_one(kernel, pair))
            return pair;
    return {};
}

}  // namespace

int collapse_axes(Kernel& kernel) {
    int count = 0;
    while (const auto pair = find_pair(kernel)) {
        collapse(kernel, *pair);
        ++count;
    }
    return count;
}

}  // namespace fovea::kernel
