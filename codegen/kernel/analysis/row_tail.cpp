#include "codegen/kernel/analysis/row_tail.h"

#include <algorithm>
#include <limits>
#include <set>

namespace fovea::kernel {

namespace {

class RowTailFinder {
  public:
    RowTailFinder(Kernel& kernel, const std::vector<Id>& nodes, AxisId axis)
        : kernel_(kernel), nodes_(nodes), axis_(axis) {}

    std::optional<RowTail> run() {
        const std::size_t before = kernel_.nodes.size();
        if (find_mask()) {
            for (Id id : nodes_) find_value(id);
            if (std::all_of(nodes_.begin(), nodes_.end(), [&](Id id) { return is_known(id); })) {
                tail_.bound = make_bound();
                drop_masks();
                return tail_;
            }
        }
        kernel_.nodes.resize(before);
        return {};
    }

  private:
    bool lies_along(Id id) const {
        const std::vector<AxisId>& axes = kernel_.nodes[std::size_t(id)].axes;
        return std::find(axes.begin(), axes.end(), axis_) != axes.end();
    }
    bool is_position(Id id) const {
        const Index* index = as<Index>(kernel_, id);
        return index && index->axis == axis_;
    }

    /// The comparisons with a position that all hold where a condition does.
    std::set<Id> bounds_of(Id condition) const {
        const Map* map = as<Map>(kernel_, condition);
        if (!map) return {};
        if (map->function == Elementwise::logical_and) {
            std::set<Id> both = bounds_of(map->operands[0]);
            both.merge(bounds_of(map->operands[1]));
            return both;
        }
        const bool compares = map->function == Elementwise::lt || map->function == Elementwise::le;
        if (compares && is_position(map->operands[0]) && !lies_along(map->operands[1]) &&
            kernel_.nodes[std::size_t(map->operands[1])].dtype == DType::i32)
            return {condition};
        return {};
    }
    /// Whether a condition says nothing but that a position is below bounds.
    bool is_bound(Id condition) const {
        const Map* map = as<Map>(kernel_, condition);
        if (map && map->function == Elementwise::logical_and)
            return is_bound(map->operands[0]) && is_bound(map->operands[1]);
        return !bounds_of(condition).empty();
    }
    bool is_hidden(Id condition) const {
        const std::set<Id> bounds = bounds_of(condition);
        return std::includes(bounds.begin(), bounds.end(), mask_.begin(), mask_.end());
    }

    /// The mask that all others include.
    bool find_mask() {
        bool found = false;
        for (Id id : nodes_) {
            const Map* map = as<Map>(kernel_, id);
            if (!map || map->function != Elementwise::where) continue;
            const std::set<Id> bounds = bounds_of(map->operands[0]);
            if (bounds.empty()) continue;
            if (!found || bounds.size() < mask_.size()) mask_ = bounds;
            found = true;
        }
        return found;
    }

    Id add(Operation operation, DType dtype) {
        kernel_.nodes.push_back({std::move(operation), {}, dtype, ""});
        return Id(kernel_.nodes.size()) - 1;
    }
    /// The value of a tile past the bound, -1 where it differs from position to position.
    Id value_of(Id id) const {
        if (!lies_along(id)) return id;
        const auto found = tail_.values.find(id);
        return found == tail_.values.end() ? -1 : found->second;
    }

    void find_value(Id id) {
        if (!lies_along(id)) return;
        const DType dtype = kernel_.nodes[std::size_t(id)].dtype;
        if (const Constant* number = as<Constant>(kernel_, id)) {
            const double value = number->value;
            tail_.values[id] = add(Constant{value}, dtype);
            return;
        }
        const Map* map = as<Map>(kernel_, id);
        if (!map) return;
        const Elementwise function = map->function;
        const std::vector<Id> operands = map->operands;
        if (function == Elementwise::where && is_hidden(operands[0])) {
            if (Id value = value_of(operands[2]); value >= 0) tail_.values[id] = value;
            return;
        }
        std::vector<Id> values;
        for (Id operand : operands) values.push_back(value_of(operand));
        const auto zero = [&](std::size_t i) {
            return values[i] >= 0 && is_zero(kernel_, values[i]);
        };
        if (function == Elementwise::mul && (zero(0) || zero(1)))
            tail_.values[id] = values[zero(0) ? 0 : 1];
        else if (std::all_of(values.begin(), values.end(), [](Id value) { return value >= 0; }))
            tail_.values[id] = add(Map{function, values}, dtype);
    }

    bool is_known(Id id) const {
        if (const Store* store = as<Store>(kernel_, id)) return is_known_store(*store);
        const Reduce* reduce = as<Reduce>(kernel_, id);
        if (!reduce || !lies_along(reduce->operand)) return !as<Contract>(kernel_, id);
        const Id value = value_of(reduce->operand);
        if (value < 0 || kernel_.nodes[std::size_t(id)].dtype != DType::f32) return false;
        const bool leaves = !lies_along(id);
        return leaves ? reduce->axes == std::vector<AxisId>{axis_} : is_zero(kernel_, value);
    }
    /// Rows of floats in order; the sums of rows, to which nothing is added, lie elsewhere.
    bool is_known_store(const Store& store) const {
        const auto along = std::find_if(store.access.strides.begin(), store.access.strides.end(),
                                        [&](const Stride& stride) { return stride.axis == axis_; });
        if (along == store.access.strides.end() || as<Reduce>(kernel_, store.value)) return true;
        return value_of(store.value) >= 0 && !store.accumulate && store.access.row < 0 &&
               along->stride.is_one() && !along->panel &&
               kernel_.buffers[std::size_t(store.access.buffer)].dtype == DType::f32;
    }

    /// The sum of `last` and 1, of the largest i32 itself: no row is longer.
    Id position_after(Id last) {
        constexpr double kLargest = std::numeric_limits<std::int32_t>::max();
        if (const Constant* number = as<Constant>(kernel_, last))
            return add(Constant{std::min(number->value + 1, kLargest)}, DType::i32);
        if (!as<Index>(kernel_, last)) {
            const Id largest = add(Constant{kLargest - 1}, DType::i32);
            last = add(Map{Elementwise::minimum, {last, largest}}, DType::i32);
        }
        return add(Map{Elementwise::add, {last, add(Constant{1}, DType::i32)}}, DType::i32);
    }
    Id make_bound() {
        Id bound = -1;
        for (Id comparison : mask_) {
            const Map map = *as<Map>(kernel_, comparison);
            Id upper = map.operands[1];
            if (map.function == Elementwise::le) upper = position_after(upper);
            bound = bound < 0 ? upper : add(Map{Elementwise::minimum, {bound, upper}}, DType::i32);
        }
        return bound;
    }

    void drop_masks() {
        for (Id id : nodes_) {
            Map* map = as<Map>(kernel_, id);
            if (!map || map->function != Elementwise::where || !is_bound(map->operands[0]))
                continue;
            if (bounds_of(map->operands[0]) == mask_)
                *map = {Elementwise::identity, {map->operands[1]}};
        }
    }

    Kernel& kernel_;
    const std::vector<Id>& nodes_;
    AxisId axis_;
    std::set<Id> mask_;  // comparisons; no position from the least of their bounds on is seen
    RowTail tail_;
};

}  // namespace

std::optional<RowTail> cut_row_tail(Kernel& kernel, const std::vector<Id>& nodes, AxisId axis) {
    return RowTailFinder(kernel, nodes, axis).run();
}

bool is_zero(const Kernel& kernel, Id id) {
    const Constant* number = as<Constant>(kernel, id);
    return number && number->value == 0;
}

}  // namespace fovea::kernel
