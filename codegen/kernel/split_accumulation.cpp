// What the second kernel does not need is left to the removal of dead nodes.
#include "codegen/kernel/split_accumulation.h"

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/kernel/blocks.h"
#include "codegen/kernel/turned_bounds.h"
#include "codegen/kernel/verify_kernel.h"

namespace fovea::kernel {

namespace {

bool is_tiles(const Kernel& kernel, Id id) {
    auto loop = as<Loop>(kernel, id);
    return loop && loop->kind == LoopKind::tiles;
}

/// The loops and the store that make a kernel one of this kind.
struct Pattern {
    Id around = -1;  // the loop in whose block they stand, or -1
    Id zero = -1, outer = -1, inner = -1, store = -1;
};

std::optional<Pattern> find_pattern(const Kernel& kernel) {
    Pattern found;
    const std::vector<Position> positions = positions_of(kernel);
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        const std::vector<Id>& loops = positions[std::size_t(id)].loops;
        if (auto loop = as<Loop>(kernel, id)) {
            if (loop->kind == LoopKind::each) continue;
            if (loop->kind != LoopKind::tiles) return std::nullopt;
            const bool inside = !loops.empty() && is_tiles(kernel, loops.back());
            const bool holds_loops = std::any_of(loop->body.begin(), loop->body.end(),
                                                 [&](Id one) { return is_tiles(kernel, one); });
            Id& place = inside ? found.inner : holds_loops ? found.outer : found.zero;
            if (place >= 0) return std::nullopt;
            place = id;
        }
        auto store = as<Store>(kernel, id);
        if (!store || !store->accumulate) continue;
        if (found.store >= 0) return std::nullopt;
        found.store = id;
    }
    if (found.zero < 0 || found.outer < 0 || found.inner < 0 || found.store < 0)
        return std::nullopt;
    const std::vector<Id>& around = positions[std::size_t(found.outer)].loops;
    if (positions[std::size_t(found.zero)].loops != around) return std::nullopt;
    if (positions[std::size_t(found.inner)].loops.back() != found.outer) return std::nullopt;
    if (positions[std::size_t(found.store)].loops.back() != found.inner) return std::nullopt;
    found.around = around.empty() ? -1 : around.back();
    return found;
}

/// The number of the inner loop's carried value through which the outer one's `number` passes; -1:
/// it passes through none.
int passed_through(const Kernel& kernel, const Pattern& found, std::size_t number) {
    const Carry& carry = as<Loop>(kernel, found.outer)->carries[number];
    const auto result = as<Result>(kernel, carry.next);
    if (!result || result->loop != found.inner) return -1;
    const Carry& inner = as<Loop>(kernel, found.inner)->carries[std::size_t(result->number)];
    return inner.initial == carry.argument ? result->number : -1;
}

/// Whether what the outer loop carries is a sum over all tiles that is stored after it alone.
bool carries_sums(Kernel& kernel, const Pattern& found) {
    const std::size_t count = as<Loop>(kernel, found.outer)->carries.size();
    for (std::size_t i = 0; i < count; ++i)
        if (passed_through(kernel, found, i) < 0) return false;
    for (Id id : block_of(kernel, found.around)) {
        auto store = as<Store>(kernel, id);
        if (!store) continue;
        auto result = as<Result>(kernel, store->value);
        if (!result || result->loop != found.outer) return false;
    }
    return true;
}

/// Whether the pattern's loops may be turned around.
bool can_split(Kernel kernel, const Pattern& found) {
    const Loop &zero = *as<Loop>(kernel, found.zero), &outer = *as<Loop>(kernel, found.outer),
               &inner = *as<Loop>(kernel, found.inner);
    const Store& sum = *as<Store>(kernel, found.store);
    if (!carries_sums(kernel, found) || outer.lower >= 0 || outer.upper >= 0) return false;
    if (!zero.carries.empty() || zero.axis != inner.axis) return false;
    const auto has = [&](Id id, AxisId axis) {
        const auto& axes = kernel.nodes[std::size_t(id)].axes;
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
    };
    if (!has(sum.value, inner.axis) || has(sum.value, outer.axis)) return false;
    int zeros = 0;
    for (Id id : zero.body)
        if (auto store = as<Store>(kernel, id)) {
            auto value = as<Constant>(kernel, store->value);
            if (!value || value->value != 0 || store->access.buffer != sum.access.buffer)
                return false;
            ++zeros;
        }
    return zeros == 1;
}

void erase(std::vector<Id>& block, Id id) { std::erase(block, id); }

/// Drops nodes that no store and no loop needs.
void drop_dead(Kernel& kernel) {
    std::vector<bool> live(kernel.nodes.size());
    const auto mark = [&](auto&& self, Id id) -> void {
        if (live[std::size_t(id)]) return;
        live[std::size_t(id)] = true;
        for (Id operand : operands_of(kernel, id)) self(self, operand);
        if (auto loop = as<Loop>(kernel, id))
            for (const Carry& carry : loop->carries)
                self(self, carry.argument), self(self, carry.next);
    };
    const auto roots = [&](auto&& self, const std::vector<Id>& block) -> void {
        for (Id id : block) {
            if (as<Store>(kernel, id) || as<Loop>(kernel, id)) mark(mark, id);
            if (auto loop = as<Loop>(kernel, id)) self(self, loop->body);
        }
    };
    roots(roots, kernel.body);
    const auto is_dead = [&](Id id) { return !live[std::size_t(id)]; };
    std::erase_if(kernel.body, is_dead);
    for (Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation)) std::erase_if(loop->body, is_dead);
    renumber(kernel);
    verify_kernel(kernel);
}

/// The condition that `valid` was inside of its loop; adds its nodes to `block`.
Id condition_of(Kernel& kernel, const Valid& valid, std::vector<Id>& block) {
    const auto add = [&](Operation operation, DType dtype) {
        block.push_back(add_node(kernel, std::move(operation), dtype));
        return block.back();
    };
    const Id index = add(Index{valid.axis}, DType::i32);
    Id condition = -1;
    if (valid.lower >= 0)
        condition = add(Map{Elementwise::le, {valid.lower, index}}, DType::boolean);
    if (valid.upper >= 0) {
        const Id below = add(Map{Elementwise::lt, {index, valid.upper}}, DType::boolean);
        condition = condition < 0
                        ? below
                        : add(Map{Elementwise::logical_and, {condition, below}}, DType::boolean);
    }
    return condition < 0 ? add(Constant{1}, DType::boolean) : condition;
}

void erase_stores(const Kernel& kernel, std::vector<Id>& block) {
    std::erase_if(block, [&](Id id) { return as<Store>(kernel, id); });
}

/// Keeps those of the inner loop's carried values that the outer one carries, or the others. The
/// results of those that go must not be read.
void keep_carries(Kernel& kernel, const Pattern& found, bool of_outer) {
    std::set<int> passed;
    for (std::size_t i = 0; i < as<Loop>(kernel, found.outer)->carries.size(); ++i)
        passed.insert(passed_through(kernel, found, i));
    std::vector<Carry>& carries = as<Loop>(kernel, found.inner)->carries;
    std::vector<int> numbers;
    std::vector<Carry> kept;
    for (int i = 0; i < int(carries.size()); ++i) {
        const bool stays = passed.contains(i) == of_outer;
        numbers.push_back(stays ? int(kept.size()) : -1);
        if (stays) kept.push_back(carries[std::size_t(i)]);
    }
    carries = std::move(kept);
    for (Node& node : kernel.nodes)
        if (auto result = std::get_if<Result>(&node.operation);
            result && result->loop == found.inner)
            result->number = numbers[std::size_t(result->number)];
}

Kernel without_sums(Kernel kernel, const Pattern& found) {
    erase(block_of(kernel, found.around), found.zero);
    erase_stores(kernel, block_of(kernel, found.around));
    erase(as<Loop>(kernel, found.inner)->body, found.store);
    keep_carries(kernel, found, false);
    as<Loop>(kernel, found.outer)->carries.clear();
    as<Loop>(kernel, found.outer)->kind = LoopKind::par;
    drop_dead(kernel);
    return kernel;
}

/// What the outer loop carries.
Kernel carried_alone(Kernel kernel, const Pattern& found) {
    erase(block_of(kernel, found.around), found.zero);
    for (Id loop : {found.outer, found.inner}) erase_stores(kernel, as<Loop>(kernel, loop)->body);
    keep_carries(kernel, found, true);
    drop_dead(kernel);
    return kernel;
}

/// What is in scope in front of the outer loop.
std::vector<bool> known_before(const Kernel& kernel, const Pattern& found) {
    const std::vector<Position> positions = positions_of(kernel);
    std::vector<bool> known(kernel.nodes.size());
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id)
        known[std::size_t(id)] =
            encloses(positions[std::size_t(id)], positions[std::size_t(found.outer)]) &&
            id < found.outer;
    return known;
}

/// Whether a node says that a position along the axis lies within its loop.
bool has_valid(const Kernel& kernel, AxisId axis) {
    return std::any_of(kernel.nodes.begin(), kernel.nodes.end(), [&](const Node& node) {
        auto valid = std::get_if<Valid>(&node.operation);
        return valid && valid->axis == axis;
    });
}

Kernel sum_alone(Kernel kernel, const Pattern& found) {
    const Loop outer = *as<Loop>(kernel, found.outer), inner = *as<Loop>(kernel, found.inner);
    const Store sum = *as<Store>(kernel, found.store);
    std::vector<Id> block;
    for (Id id : outer.body)
        if (id != found.inner && !as<Store>(kernel, id) && !as<Result>(kernel, id))
            block.push_back(id);
    for (Id id : inner.body) {
        if (as<Store>(kernel, id)) continue;
        if (const Valid* valid = as<Valid>(kernel, id); valid && valid->axis == inner.axis) {
            const Valid copy = *valid;
            replace_uses(kernel, id, condition_of(kernel, copy, block));
        } else {
            block.push_back(id);
        }
    }
    std::vector<Id> rows_block;
    Bounds bounds;
    if (!has_valid(kernel, outer.axis))
        bounds = turned_bounds(kernel, {inner.lower, inner.upper}, inner.axis, outer.axis,
                               known_before(kernel, found), rows_block);
    const Id zero = add_node(kernel, Constant{0, kernel.nodes[std::size_t(sum.value)].axes});
    const Id so_far = add_node(kernel, Carried{zero});
    const Id next = add_node(kernel, Map{Elementwise::add, {so_far, sum.value}});
    block.insert(block.begin(), so_far);
    block.push_back(next);
    kernel.nodes[std::size_t(found.outer)].operation = Loop{
        LoopKind::tiles, outer.axis, block, bounds.lower, bounds.upper, {{zero, so_far, next}}};
    const Id result = add_node(kernel, Result{found.outer, 0});
    const Id store = add_node(kernel, Store{sum.access, result, false});
    rows_block.insert(rows_block.end(), {zero, found.outer, result, store});
    const Id rows = add_node(kernel, Loop{LoopKind::par, inner.axis, rows_block, -1, -1, {}});
    std::vector<Id>& around = block_of(kernel, found.around);
    erase(around, found.zero);
    erase_stores(kernel, around);
    std::replace(around.begin(), around.end(), found.outer, rows);
    drop_dead(kernel);
    return kernel;
}

}  // namespace

std::vector<Kernel> split_accumulation(const Kernel& kernel) {
    const std::optional<Pattern> found = find_pattern(kernel);
    if (!found || !can_split(kernel, *found)) return {};
    std::vector<Kernel> parts = {without_sums(kernel, *found), sum_alone(kernel, *found)};
    if (!as<Loop>(kernel, found->outer)->carries.empty())
        parts.push_back(carried_alone(kernel, *found));
    return parts;
}

}  // namespace fovea::kernel
