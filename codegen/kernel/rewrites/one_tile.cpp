// Blocks are spliced from the innermost loop outwards; then what starts as 0 is folded.
#include "codegen/kernel/rewrites/one_tile.h"

#include <algorithm>
#include <set>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/rewrites/tile_rewrites.h"

namespace fovea::kernel {
namespace {

const Loop* tiles_loop(const Kernel& kernel, Id id) {
    const Loop* loop = as<Loop>(kernel, id);
    return loop && loop->kind == LoopKind::tiles ? loop : nullptr;
}

/// What the loops over tiles along one axis have in common.
struct Nest {
    int depth = 0;
    Id end = -1;  // the number that their tiles end at; -1: the extent
};

/// The bound that a loop's tiles end at exactly, so that masks may have been dropped; or -1.
Id exact_end(const Kernel& kernel, const Loop& loop) {
    const bool moves = loop.upper >= 0 && !kernel.nodes[std::size_t(loop.upper)].axes.empty();
    if (loop.upper < 0 || loop.lower >= 0 || moves) return -1;
    const Extent* extent = as<Extent>(kernel, loop.upper);
    const bool whole = extent && extent->dim == kernel.axes[std::size_t(loop.axis)].extent;
    return whole ? -1 : loop.upper;
}

/// False where two loops along an axis end differently.
bool find_nests(const Kernel& kernel, const std::vector<Id>& block, int depth,
                std::map<AxisId, Nest>& nests) {
    for (Id id : block) {
        const Loop* loop = as<Loop>(kernel, id);
        if (!loop) continue;
        const bool tiled = loop->kind == LoopKind::tiles;
        if (tiled) {
            const Id end = exact_end(kernel, *loop);
            const auto [nest, first] = nests.try_emplace(loop->axis, Nest{depth + 1, end});
            if (!first && nest->second.end != end) return false;
            nest->second.depth = std::max(nest->second.depth, depth + 1);
        }
        if (!find_nests(kernel, loop->body, depth + tiled, nests)) return false;
    }
    return true;
}

/// The block of `parent` with those of its loops over tiles in their place.
void splice(Kernel& kernel, Id parent) {
    std::vector<Id> spliced;
    const std::vector<Id> block = block_of(kernel, parent);
    for (Id id : block) {
        if (as<Loop>(kernel, id)) splice(kernel, id);
        const Loop* found = tiles_loop(kernel, id);
        if (!found) {
            spliced.push_back(id);
            continue;
        }
        for (const Carry& carry : found->carries)
            replace_uses(kernel, carry.argument, carry.initial);
        for (Id node = 0; node < Id(kernel.nodes.size()); ++node)
            if (auto result = as<Result>(kernel, node); result && result->loop == id)
                replace_uses(kernel, node, found->carries[std::size_t(result->number)].next);
        spliced.insert(spliced.end(), found->body.begin(), found->body.end());
    }
    std::erase_if(spliced,
                  [&](Id id) { return as<Carried>(kernel, id) || as<Result>(kernel, id); });
    block_of(kernel, parent) = spliced;
}

bool gives_zero(const Kernel& kernel, Id id) {
    if (auto constant = as<Constant>(kernel, id)) return constant->value == 0;
    const Map* map = as<Map>(kernel, id);
    return map && map->function == Elementwise::mul &&
           (gives_zero(kernel, map->operands[0]) || gives_zero(kernel, map->operands[1]));
}

/// 0 * x + y becomes y, and y takes the name of the sum.
void drop_zeros(Kernel& kernel) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        const Map* map = as<Map>(kernel, id);
        if (!map || map->function != Elementwise::add) continue;
        for (int side : {0, 1}) {
            const Id kept = map->operands[std::size_t(side)];
            if (!gives_zero(kernel, map->operands[std::size_t(1 - side)]) ||
                kernel.nodes[std::size_t(kept)].axes != kernel.nodes[std::size_t(id)].axes)
                continue;
            const std::string& name = kernel.nodes[std::size_t(id)].name;
            if (!name.empty()) kernel.nodes[std::size_t(kept)].name = name;
            replace_uses(kernel, id, kept);
            break;
        }
    }
}

bool is_same_memory(const Access& a, const Access& b) {
    return a.buffer == b.buffer && a.strides == b.strides && a.offset == b.offset && a.row == b.row;
}

/// memory = 0, then memory += x becomes memory = x.
void drop_zeroed_memory(Kernel& kernel, std::vector<Id>& block) {
    const auto zeroes = [&](Id id) {
        const Store* store = as<Store>(kernel, id);
        return store && !store->accumulate && gives_zero(kernel, store->value);
    };
    const std::vector<Id> all = block;
    std::erase_if(block, [&](Id id) {
        if (!zeroes(id)) return false;
        const Access& zeroed = as<Store>(kernel, id)->access;
        std::vector<Store*> others;
        for (Id other : all)
            if (Store* store = as<Store>(kernel, other); store && other != id)
                if (store->access.buffer == zeroed.buffer) others.push_back(store);
        if (others.size() != 1 || !others[0]->accumulate ||
            !is_same_memory(others[0]->access, zeroed))
            return false;
        others[0]->accumulate = false;
        return true;
    });
}

/// The innermost block: that of the last loop of points or of `par` tiles.
Id innermost(const Kernel& kernel, const std::vector<Id>& block) {
    for (Id id : block)
        if (auto loop = as<Loop>(kernel, id)) {
            const Id inner = innermost(kernel, loop->body);
            return inner >= 0 ? inner : id;
        }
    return -1;
}

/// In front of the block the numbers that bounds are made of, and the loops without a block.
void put_bounds_first(Kernel& kernel, Id parent, const std::map<AxisId, Nest>& nests) {
    std::set<Id> numbers;
    std::vector<Id> loops;
    for (const auto& [axis, nest] : nests) {
        add_with_operands(kernel, nest.end, numbers);
        loops.push_back(add_node(kernel, Loop{LoopKind::tiles, axis, {}, -1, nest.end}));
    }
    std::vector<Id>& block = block_of(kernel, parent);
    const auto rest = std::stable_partition(block.begin(), block.end(),
                                            [&](Id id) { return numbers.contains(id); });
    block.insert(rest, loops.begin(), loops.end());
}

}  // namespace

std::optional<std::map<AxisId, int>> take_one_tile(Kernel& kernel) {
    std::map<AxisId, Nest> nests;
    if (!find_nests(kernel, kernel.body, 0, nests)) return std::nullopt;
    splice(kernel, -1);
    const Id block = innermost(kernel, kernel.body);
    drop_zeros(kernel);
    drop_zeroed_memory(kernel, block_of(kernel, block));
    put_bounds_first(kernel, block, nests);
    drop_unused(kernel);
    std::map<AxisId, int> depths;
    for (const auto& [axis, nest] : nests) depths[axis] = nest.depth;
    return depths;
}

}  // namespace fovea::kernel
