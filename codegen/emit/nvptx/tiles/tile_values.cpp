// A value is decided after everything that reads it.
#include "codegen/emit/nvptx/tiles/tile_values.h"

#include <algorithm>

#include "codegen/kernel/infer_types.h"

namespace fovea::emit::nvptx {

using namespace kernel;

namespace {

using Axes = std::vector<AxisId>;

Axes joined(Axes a, const Axes& b) {
    a.insert(a.end(), b.begin(), b.end());
    std::sort(a.begin(), a.end());
    a.erase(std::unique(a.begin(), a.end()), a.end());
    return a;
}

/// Operations on positions that are made again rather than kept: masks and distances.
constexpr int kMostPlainWork = 8;

bool is_sum(const Kernel& kernel, Id id) {
    return as<Contract>(kernel, id) || as<Reduce>(kernel, id);
}

/// The axes over which a sum goes.
Axes visited_by(const Kernel& kernel, Id sum) {
    const Axes& own = kernel.nodes[std::size_t(sum)].axes;
    if (auto contract = as<Contract>(kernel, sum)) return joined(own, contract->axes);
    return joined(own, as<Reduce>(kernel, sum)->axes);
}

}  // namespace

TileValues::TileValues(const Kernel& kernel, const std::set<Id>& forced)
    : kernel_(kernel),
      forced_(forced),
      positions_(positions_of(kernel)),
      users_(users_of(kernel)) {}

Id TileValues::block_of(Id id) const {
    const std::vector<Id>& loops = positions_[std::size_t(id)].loops;
    for (std::size_t i = loops.size(); i-- > 0;)
        if (as<Loop>(kernel_, loops[i])->kind == LoopKind::tiles) return loops[i];
    return -1;
}

Id TileValues::home_of(Id load) const {
    const Access& access = as<Load>(kernel_, load)->access;
    if (access.row >= 0) return block_of(load);
    const std::vector<Id>& loops = positions_[std::size_t(load)].loops;
    for (std::size_t i = loops.size(); i-- > 0;) {
        const Loop& loop = *as<Loop>(kernel_, loops[i]);
        if (loop.kind != LoopKind::tiles) continue;
        for (AxisId axis : axes(load))
            if (axis == loop.axis) return loops[i];
    }
    return -1;
}

Axes TileValues::axes_of(const Store& store) const {
    Axes moved;
    for (const Stride& stride : store.access.strides) {
        bool is_point = false;
        for (const Node& node : kernel_.nodes)
            if (auto loop = std::get_if<Loop>(&node.operation))
                is_point |= loop->axis == stride.axis && leaves_types(loop->kind);
        if (!is_point) moved.push_back(stride.axis);
    }
    return joined(axes(store.value), moved);
}

const std::vector<Reader>& TileValues::readers(Id id) {
    const auto found = readers_.find(id);
    if (found != readers_.end()) return found->second;
    std::vector<Reader> all;
    for (Id user : users_[std::size_t(id)]) add_readers(id, user, all);
    return readers_[id] = std::move(all);
}

void TileValues::add_readers(Id id, Id user, std::vector<Reader>& all) {
    if (as<Carried>(kernel_, user) || as<Result>(kernel_, user)) return;  // their loop reads
    if (auto loop = as<Loop>(kernel_, user)) {
        for (const Carry& carry : loop->carries) {
            if (carry.initial == id)
                all.push_back({-2 - carry.argument, block_of(user), axes(id), axes(id)});
            if (carry.next == id) all.push_back({carry.argument, user, axes(id), axes(id)});
        }
        if (loop->lower == id || loop->upper == id)
            all.push_back({user, block_of(user), axes(id), axes(id)});
        return;
    }
    if (auto store = as<Store>(kernel_, user)) {
        const Axes elements = axes_of(*store);
        all.push_back({user, block_of(user), elements, elements});
        return;
    }
    if (is_kept(user)) {
        const Id block = as<Load>(kernel_, user) ? home_of(user) : block_of(user);
        all.push_back({user, block, axes(user),
                       is_sum(kernel_, user) ? visited_by(kernel_, user) : axes(user)});
        return;
    }
    for (Reader reader : readers(user)) {
        if (is_sum(kernel_, user))
            reader.visited = joined(reader.visited, visited_by(kernel_, user));
        all.push_back(std::move(reader));
    }
}

bool TileValues::is_kept(Id id) {
    const auto found = kept_.find(id);
    if (found != kept_.end()) return found->second;
    const bool kept = decide(id);
    return kept_[id] = kept;
}

bool TileValues::decide(Id id) {
    const Node& node = kernel_.nodes[std::size_t(id)];
    const bool sum = is_sum(kernel_, id);
    const bool made = as<Map>(kernel_, id) || as<Random>(kernel_, id);
    if (!sum && !made && !as<Load>(kernel_, id)) return false;
    if (forced_.contains(id)) return true;
    const std::vector<Reader>& all = readers(id);
    if (all.empty()) return false;
    const auto more = [&](const Reader& reader) { return reader.visited != node.axes; };
    const bool read_more = std::any_of(all.begin(), all.end(), more);
    const Id block = block_of(id);
    const bool one_step = std::all_of(all.begin(), all.end(), [&](const Reader& reader) {
        return reader.step == all[0].step && reader.block == block;
    });
    if (sum) return read_more || !one_step || all[0].axes != node.axes;
    const bool is_float = fovea::is_float(node.dtype);
    if (!is_float || node.axes.empty() || node.axes.size() > 2) return false;
    if (as<Load>(kernel_, id)) return read_more;
    if (is_plain(id)) return read_more && plain_work(id) > kMostPlainWork;
    return read_more || (!one_step && is_costly(id));
}

/// Whether a value is made of numbers, positions and conditions alone.
bool TileValues::is_plain(Id id) const {
    const Node& node = kernel_.nodes[std::size_t(id)];
    if (as<Constant>(kernel_, id) || as<Extent>(kernel_, id) || as<Index>(kernel_, id) ||
        as<Valid>(kernel_, id))
        return true;
    if (as<Load>(kernel_, id)) return !is_float(node.dtype);
    const Map* map = as<Map>(kernel_, id);
    return map && std::all_of(map->operands.begin(), map->operands.end(),
                              [&](Id operand) { return is_plain(operand); });
}

/// How many operations a value takes that is made of numbers, positions and conditions.
int TileValues::plain_work(Id id) const {
    const Map* map = as<Map>(kernel_, id);
    if (!map) return 0;
    int work = 1;
    for (Id operand : map->operands) work += plain_work(operand);
    return work;
}

/// Whether making a value takes a function, or a sum.
bool TileValues::is_costly(Id id) const {
    if (as<Random>(kernel_, id)) return true;
    const Map* map = as<Map>(kernel_, id);
    if (!map) return false;
    if (works_in_floats(map->function)) return true;
    return std::any_of(map->operands.begin(), map->operands.end(),
                       [&](Id operand) { return is_sum(kernel_, operand) || is_costly(operand); });
}

std::vector<Id> TileValues::sums_in(Id value) {
    std::vector<Id> sums;
    collect_sums(value, sums);
    return sums;
}

void TileValues::collect_sums(Id id, std::vector<Id>& sums) {
    if (is_sum(kernel_, id)) {
        if (std::find(sums.begin(), sums.end(), id) == sums.end()) sums.push_back(id);
        return;
    }
    if (as<Carried>(kernel_, id) || as<Result>(kernel_, id)) return;
    for (Id operand : operands_of(kernel_, id))
        if (!is_kept(operand)) collect_sums(operand, sums);
}

}  // namespace fovea::emit::nvptx
