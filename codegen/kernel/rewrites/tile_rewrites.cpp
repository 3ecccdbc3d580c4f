// Each rewrite repeats one step until there is nothing left to do.
#include "codegen/kernel/rewrites/tile_rewrites.h"

#include <algorithm>
#include <cmath>

#include "codegen/kernel/analysis/blocks.h"
#include "codegen/kernel/rewrites/split_exponentials.h"

namespace fovea::kernel {
namespace {

const Node& node_of(const Kernel& kernel, Id id) { return kernel.nodes[std::size_t(id)]; }

bool has_axes(const Kernel& kernel, Id id) { return id >= 0 && !node_of(kernel, id).axes.empty(); }

bool is_subset(const std::vector<AxisId>& some, const std::vector<AxisId>& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// A factor around a contraction, the operand that can take it, and the product: `inner`, of the
/// contraction and factors before this one, times `factor`.
struct Factor {
    Id product = -1, inner = -1, contract = -1, factor = -1, operand = -1;
};

bool is_scalar_number(const Kernel& kernel, Id id) {
    return as<Constant>(kernel, id) || as<Extent>(kernel, id);
}

/// Whether a product with a value is exact: it is a power of two, or zero, or one of these.
bool scales_exactly(const Kernel& kernel, Id id) {
    if (const Constant* number = as<Constant>(kernel, id)) {
        int exponent = 0;
        return number->value == 0 || std::abs(std::frexp(number->value, &exponent)) == 0.5;
    }
    const Map* map = as<Map>(kernel, id);
    return map && map->function == Elementwise::where && scales_exactly(kernel, map->operands[1]) &&
           scales_exactly(kernel, map->operands[2]);
}

/// The operand of the contraction that takes `factor`, or -1.
Id operand_for(const Kernel& kernel, const std::vector<Position>& positions, Id contract,
               Id factor) {
    const Contract& it = *as<Contract>(kernel, contract);
    const Position& inside = positions[std::size_t(contract)];
    for (Id operand : {it.a, it.b}) {
        const Position& outside = positions[std::size_t(operand)];
        const bool invariant = outside.loops.size() < inside.loops.size();
        if (!invariant || !is_subset(node_of(kernel, factor).axes, node_of(kernel, operand).axes))
            continue;
        const Position& factor_at = positions[std::size_t(factor)];
        const bool known = factor_at.loops.size() < inside.loops.size() &&
                           (encloses(factor_at, outside) || encloses(outside, factor_at));
        if (known || is_scalar_number(kernel, factor)) return operand;
    }
    return -1;
}

Factor find_factor(const Kernel& kernel) {
    const std::vector<Position> positions = positions_of(kernel);
    const std::vector<std::vector<Id>> users = users_of(kernel);
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        if (!as<Contract>(kernel, id)) continue;
        for (Id inner = id; users[std::size_t(inner)].size() == 1;) {
            const Id product = users[std::size_t(inner)][0];
            const Map* map = as<Map>(kernel, product);
            if (!map || map->function != Elementwise::mul) break;
            const Id factor = map->operands[map->operands[0] == inner ? 1 : 0];
            // An operand that is rounded to a half would be rounded once more.
            const bool may_move =
                !is_half(as<Contract>(kernel, id)->factors) || scales_exactly(kernel, factor);
            if (node_of(kernel, factor).dtype == DType::f32 && may_move)
                if (const Id operand = operand_for(kernel, positions, id, factor); operand >= 0)
                    return {product, inner, id, factor, operand};
            inner = product;
        }
    }
    return {};
}

void hoist(Kernel& kernel, Factor it) {
    std::vector<Position> positions = positions_of(kernel);
    const std::string name = node_of(kernel, it.operand).name;
    Position at = positions[std::size_t(it.operand)];
    const Position& factor_at = positions[std::size_t(it.factor)];
    if (encloses(factor_at, positions[std::size_t(it.contract)]) &&
        factor_at.loops.size() < positions[std::size_t(it.contract)].loops.size()) {
        const bool later = factor_at.loops.size() > at.loops.size() ||
                           (factor_at.loops == at.loops && factor_at.index > at.index);
        if (later) at = factor_at;
    } else {  // a number from inside of the loop
        const Node number = node_of(kernel, it.factor);
        it.factor = insert_node(kernel, at.loops.empty() ? -1 : at.loops.back(), at.index,
                                number.operation, number.dtype);
        ++at.index;
    }
    const auto is_scaled = name.size() > 7 && name.ends_with("_scaled");
    const Id scaled = insert_node(kernel, at.loops.empty() ? -1 : at.loops.back(), at.index,
                                  Map{Elementwise::mul, {it.operand, it.factor}}, DType::f32,
                                  name.empty() || is_scaled ? name : name + "_scaled");
    Contract& contract = *as<Contract>(kernel, it.contract);
    (contract.a == it.operand ? contract.a : contract.b) = scaled;
    if (is_scaled) kernel.nodes[std::size_t(it.operand)].name.clear();
    if (node_of(kernel, it.inner).name.empty())
        kernel.nodes[std::size_t(it.inner)].name = node_of(kernel, it.product).name;
    replace_uses(kernel, it.product, it.inner);
    drop_node(kernel, it.product);
    renumber(kernel);
}

}  // namespace

void drop_certain_masks(Kernel& kernel) {
    for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
        const Map* map = as<Map>(kernel, id);
        if (!map || map->function != Elementwise::where) continue;
        const Valid* valid = as<Valid>(kernel, map->operands[0]);
        if (!valid || valid->lower >= 0 || has_axes(kernel, valid->upper)) continue;
        const Id kept = map->operands[1];
        if (node_of(kernel, kept).axes != node_of(kernel, id).axes) continue;
        if (node_of(kernel, kept).name.empty())
            kernel.nodes[std::size_t(kept)].name = node_of(kernel, id).name;
        replace_uses(kernel, id, kept);
    }
}

void hoist_factors(Kernel& kernel) {
    for (Factor found = find_factor(kernel); found.product >= 0; found = find_factor(kernel))
        hoist(kernel, found);
}

void split_reductions(Kernel& kernel) {
    for (bool changed = true; changed;) {
        changed = false;
        const std::vector<Position> positions = positions_of(kernel);
        for (Id id = 0; id < Id(kernel.nodes.size()) && !changed; ++id) {
            Reduce* reduce = as<Reduce>(kernel, id);
            if (!reduce || reduce->axes.size() < 2) continue;
            const std::vector<Id>& loops = positions[std::size_t(id)].loops;
            const auto depth = [&](AxisId axis) {
                for (std::size_t i = 0; i < loops.size(); ++i)
                    if (as<Loop>(kernel, loops[i])->axis == axis) return i;
                return loops.size();
            };
            const AxisId first =
                *std::max_element(reduce->axes.begin(), reduce->axes.end(),
                                  [&](AxisId a, AxisId b) { return depth(a) < depth(b); });
            const Reduce inner{reduce->reduction, {first}, reduce->operand};
            const Position& at = positions[std::size_t(id)];
            const Id made = insert_node(kernel, loops.empty() ? -1 : loops.back(), at.index - 1,
                                        inner, DType::f32);
            reduce = as<Reduce>(kernel, id);
            std::erase(reduce->axes, first);
            reduce->operand = made;
            changed = true;
        }
    }
    renumber(kernel);
}

void drop_unused(Kernel& kernel) {
    for (bool changed = true; changed;) {
        changed = false;
        const std::vector<std::vector<Id>> users = users_of(kernel);
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
            const bool pure =
                as<Map>(kernel, id) || as<Constant>(kernel, id) || as<Valid>(kernel, id);
            if (!pure || !users[std::size_t(id)].empty()) continue;
            drop_node(kernel, id);
            changed = true;
        }
        renumber(kernel);
    }
}

Kernel rewrite_for_tiles(Kernel kernel) {
    drop_certain_masks(kernel);
    split_exponentials(kernel);
    hoist_factors(kernel);
    split_reductions(kernel);
    drop_unused(kernel);
    return kernel;
}

}  // namespace fovea::kernel
