// Operands are decided before what is made of them.
#include "codegen/emit/cpp/tiles/tile_roots.h"

#include <algorithm>
#include <utility>

#include "codegen/emit/cpp/expression.h"

namespace fovea::emit {

using namespace kernel;

TileRoots::TileRoots(const TilePlan& plan, const TileAxes& axes)
    : plan_(plan),
      kernel_(plan.kernel),
      axes_(axes),
      users_(users_of(plan.kernel)),
      positions_(positions_of(plan.kernel)) {
    for (Id id = 0; id < Id(kernel_.nodes.size()); ++id) is_root_.push_back(needs_statement(id));
}

bool TileRoots::is_sum(Id id) const {
    if (as<Contract>(kernel_, id)) return true;
    auto reduce = as<Reduce>(kernel_, id);
    return reduce && axes(reduce->operand).size() > 2;
}

bool TileRoots::is_mask(Id id) const {
    if (plan_.in_one_tile()) return false;
    auto map = as<Map>(kernel_, id);
    if (!map || map->function != Elementwise::where || axes(id).size() != 2) return false;
    const Id masked = map->operands[1];
    return as<Valid>(kernel_, map->operands[0]) && axes(masked) == axes(id) &&
           users(masked).size() == 1 && has_open_sum(masked);
}

bool TileRoots::is_read_by_sums(Id id, AxisId lane) const {
    return std::all_of(users(id).begin(), users(id).end(), [&](Id user) {
        if (is_sum(user)) return axes_.place(axes(user), inner_loop(user)).lane == lane;
        return as<Map>(kernel_, user) && !is_root(user) && is_read_by_sums(user, lane);
    });
}

Id TileRoots::inner_loop(Id id) const {
    const std::vector<Id>& loops = positions_[std::size_t(id)].loops;
    for (std::size_t i = loops.size(); i-- > 0;)
        if (as<Loop>(kernel_, loops[i])->kind == LoopKind::tiles) return loops[i];
    return -1;
}

bool TileRoots::needs_statement(Id id) const {
    if (as<Contract>(kernel_, id) || as<Reduce>(kernel_, id) || as<Store>(kernel_, id)) return true;
    if (as<Random>(kernel_, id)) return axes(id).size() == 2 && !users(id).empty();
    if (!as<Map>(kernel_, id) || axes(id).size() > 2) return false;  // three axes: in sums only
    const bool is_float = kernel_.nodes[std::size_t(id)].dtype == DType::f32;
    bool needed = false;
    for (Id user : users(id))
        needed |= is_next(user, id) || (is_float && needs_statement_for(id, user));
    if (needed || (is_float && is_mask(id))) return true;
    if (axes(id).empty()) return !users(id).empty();
    return is_float && users(id).size() > 1 && (is_costly(id) || has_open_sum(id));
}

/// Sums, masks and nested loops read memory; a smaller tile is computed once, before a larger one.
bool TileRoots::needs_statement_for(Id id, Id user) const {
    if (as<Contract>(kernel_, user) || is_mask(user)) return true;
    if (as<Reduce>(kernel_, user) && has_open_sum(id)) return true;
    if (as<Map>(kernel_, user) && axes(user).size() > axes(id).size()) return true;
    if (auto store = as<Store>(kernel_, user); store && axes_.of(store->access) != axes(id))
        return true;
    return positions_[std::size_t(user)].loops != positions_[std::size_t(id)].loops;
}

bool TileRoots::is_costly(Id id) const {
    const Map* map = as<Map>(kernel_, id);
    if (!map) return false;
    return is_expensive(map->function) ||
           std::any_of(map->operands.begin(), map->operands.end(),
                       [&](Id operand) { return !is_root(operand) && is_costly(operand); });
}

/// Whether the value is made of a sum's, element by element.
bool TileRoots::has_open_sum(Id id) const {
    if (is_sum(id)) return true;
    const Map* map = as<Map>(kernel_, id);
    return map && std::any_of(map->operands.begin(), map->operands.end(),
                              [&](Id operand) { return has_open_sum(operand); });
}

bool TileRoots::is_next(Id loop, Id id) const {
    auto it = as<Loop>(kernel_, loop);
    return it && std::any_of(it->carries.begin(), it->carries.end(),
                             [&](const Carry& carry) { return carry.next == id; });
}

bool TileRoots::multiplies_few_rows(Id loop, Id id, const Statement& sum) const {
    const auto [row, lane] = sum.place;
    if (row < 0 || !axes_.is_few(row) || loop < 0 || as<Loop>(kernel_, loop)->axis != lane)
        return false;
    if (sum.start >= 0 || plan_.is_tiled(sum.step)) return false;
    Id few = as<Contract>(kernel_, id)->a, all = as<Contract>(kernel_, id)->b;
    if (axes_.has(few, lane)) std::swap(few, all);
    return as<Load>(kernel_, all) && lies_along(all, sum.step, lane) &&
           lies_along(few, sum.step, row);
}

bool TileRoots::lies_along(Id id, AxisId step, AxisId row) const {
    const Node& node = kernel_.nodes[std::size_t(id)];
    if (node.axes.size() != 2 || !axes_.has(id, step) || node.dtype != DType::f32) return false;
    if (as<Load>(kernel_, id)) return axes_.is_contiguous(id, step);
    return is_root(id) && !is_read_by_sums(id, row);
}

}  // namespace fovea::emit
