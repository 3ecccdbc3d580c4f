// A bound says that a comparison holds: lower(k) <= q, or q < upper(k). Each step takes a function
// of k from it, until k stands alone on one side.
#include "codegen/kernel/turned_bounds.h"

#include <algorithm>
#include <optional>

#include "codegen/kernel/blocks.h"

namespace fovea::kernel {

namespace {

/// What is known of k; none: there is no such k.
using Known = std::optional<Bounds>;

class Turn {
  public:
    Turn(Kernel& kernel, AxisId inner, AxisId outer, const std::vector<bool>& is_known,
         std::vector<Id>& block)
        : kernel_(kernel), inner_(inner), outer_(outer), is_known_(is_known), block_(block) {}

    /// expression(k) <= q
    Known at_most(Id expression) {
        if (is_fixed(expression)) return Bounds{};
        if (as<Index>(kernel_, expression)) return Bounds{-1, plus_one(position())};
        const Map* map = as<Map>(kernel_, expression);
        if (!map) return Bounds{};
        const std::vector<Id> operands = map->operands;
        const auto turn = [&](Id operand) { return at_most(operand); };
        if (map->function == Elementwise::where) return choice(operands, turn);
        if (map->function == Elementwise::maximum)
            return both(turn(operands[0]), turn(operands[1]));
        return Bounds{};
    }

    /// q < expression(k)
    Known below(Id expression) {
        const Constant* number = as<Constant>(kernel_, expression);
        if (number && number->value <= 0) return std::nullopt;
        if (is_fixed(expression)) return Bounds{};
        const Map* map = as<Map>(kernel_, expression);
        if (!map) return Bounds{};
        const std::vector<Id> operands = map->operands;
        const auto turn = [&](Id operand) { return below(operand); };
        if (map->function == Elementwise::where) return choice(operands, turn);
        if (map->function == Elementwise::minimum)
            return both(turn(operands[0]), turn(operands[1]));
        if (map->function == Elementwise::add)  // q < k + c
            for (std::size_t i : {0U, 1U})
                if (as<Index>(kernel_, operands[i]) && is_fixed(operands[1 - i])) {
                    const Id added = known(operands[1 - i]);
                    if (added < 0) return Bounds{};
                    return Bounds{plus_one(make(Elementwise::sub, {position(), added})), -1};
                }
        return Bounds{};
    }

    Known both(const Known& a, const Known& b) {
        if (!a || !b) return std::nullopt;
        const auto join = [&](Id one, Id other, Elementwise function) {
            return one < 0 ? other : other < 0 ? one : make(function, {one, other});
        };
        return Bounds{join(a->lower, b->lower, Elementwise::maximum),
                      join(a->upper, b->upper, Elementwise::minimum)};
    }

  private:
    /// The same for all k.
    bool is_fixed(Id id) const {
        const auto& axes = kernel_.nodes[std::size_t(id)].axes;
        return std::find(axes.begin(), axes.end(), outer_) == axes.end();
    }

    /// Whether a condition can hold.
    Known holds(Id condition) {
        const Map* map = as<Map>(kernel_, condition);
        if (!map || is_fixed(condition)) return Bounds{};
        const Elementwise function = map->function;
        const std::vector<Id> operands = map->operands;
        switch (function) {
            case Elementwise::logical_and: return both(holds(operands[0]), holds(operands[1]));
            case Elementwise::logical_or:
                for (std::size_t i : {0U, 1U})
                    if (is_fixed(operands[i]))
                        return either(operands[i], Bounds{}, holds(operands[1 - i]));
                return Bounds{};
            case Elementwise::lt:
            case Elementwise::le:
                if (as<Index>(kernel_, operands[0]) && is_fixed(operands[1])) {
                    const Id end = known(operands[1]);
                    if (end < 0) return Bounds{};
                    return Bounds{-1, function == Elementwise::lt ? end : plus_one(end)};
                }
                return Bounds{};
            default: return Bounds{};
        }
    }

    template <class Compare>
    Known choice(const std::vector<Id>& operands, const Compare& compare) {
        if (is_fixed(operands[0]))
            return either(operands[0], compare(operands[1]), compare(operands[2]));
        // Where the other choice is out of the question, the condition holds.
        if (!compare(operands[2])) return both(holds(operands[0]), compare(operands[1]));
        return Bounds{};
    }

    /// `condition` is the same for all k.
    Known either(Id condition, const Known& a, const Known& b) {
        if (!a || !b) return a ? a : b;
        const bool lower = a->lower >= 0 || b->lower >= 0, upper = a->upper >= 0 || b->upper >= 0;
        condition = lower || upper ? known(condition) : -1;
        if (condition < 0) return Bounds{};
        const auto choose = [&](Id one, Id other, bool is_end) {
            if (one < 0) one = unbounded(is_end);
            if (other < 0) other = unbounded(is_end);
            return make(Elementwise::where, {condition, one, other});
        };
        return Bounds{lower ? choose(a->lower, b->lower, false) : -1,
                      upper ? choose(a->upper, b->upper, true) : -1};
    }

    Id unbounded(bool is_end) {
        if (!is_end) return add(Constant{0});
        return add(Extent{kernel_.axes[std::size_t(outer_)].extent});
    }
    Id position() { return add(Index{inner_}); }
    Id plus_one(Id number) { return make(Elementwise::add, {number, add(Constant{1})}); }

    /// A fixed value in the block, made again where it is not in scope; -1: it cannot be.
    Id known(Id id) {
        if (is_known_[std::size_t(id)]) return id;
        const DType dtype = kernel_.nodes[std::size_t(id)].dtype;
        if (as<Constant>(kernel_, id) || as<Extent>(kernel_, id) || as<Index>(kernel_, id))
            return add(Operation(kernel_.nodes[std::size_t(id)].operation), dtype);
        if (auto load = as<Load>(kernel_, id); load && load->access.row < 0)
            return add(Load{load->access}, dtype);
        const Map* map = as<Map>(kernel_, id);
        if (!map) return -1;
        Map copy = *map;
        for (Id& operand : copy.operands) {
            operand = known(operand);
            if (operand < 0) return -1;
        }
        return add(std::move(copy), dtype);
    }

    Id make(Elementwise function, std::vector<Id> operands) {
        return add(Map{function, std::move(operands)});
    }
    Id add(Operation operation, DType dtype = i32) {
        block_.push_back(add_node(kernel_, std::move(operation), dtype));
        return block_.back();
    }

    Kernel& kernel_;
    AxisId inner_, outer_;
    const std::vector<bool>& is_known_;
    std::vector<Id>& block_;
};

}  // namespace

Bounds turned_bounds(Kernel& kernel, const Bounds& bounds, AxisId inner, AxisId outer,
                     const std::vector<bool>& is_known, std::vector<Id>& block) {
    Turn turn(kernel, inner, outer, is_known, block);
    const Known from = bounds.lower < 0 ? Bounds{} : turn.at_most(bounds.lower),
                until = bounds.upper < 0 ? Bounds{} : turn.below(bounds.upper);
    return turn.both(from, until).value_or(Bounds{});
}

}  // namespace fovea::kernel
