#include "codegen/kernel/analysis/work_along.h"

#include <algorithm>
#include <optional>

namespace fovea::kernel {

namespace {

/// How a number changes along the axis; none: in a way that is not known.
using Trend = std::optional<Work>;

Trend joined(const Trend& a, const Trend& b) {
    if (!a || !b) return std::nullopt;
    if (*a == Work::even) return b;
    return *b == Work::even || *a == *b ? a : std::nullopt;
}

Trend turned(const Trend& trend) {
    if (!trend || *trend == Work::even) return trend;
    return *trend == Work::rises ? Work::falls : Work::rises;
}

class Trends {
  public:
    Trends(const Kernel& kernel, AxisId axis) : kernel_(kernel), axis_(axis) {}

    Trend of_loop(const Loop& loop) const {
        const Trend upper = loop.upper < 0 ? Work::even : of(loop.upper);
        const Trend lower = loop.lower < 0 ? Work::even : of(loop.lower);
        return joined(upper, turned(lower));
    }

  private:
    Trend of(Id id) const {
        const auto& axes = kernel_.nodes[std::size_t(id)].axes;
        if (std::find(axes.begin(), axes.end(), axis_) == axes.end()) return Work::even;
        if (as<Index>(kernel_, id)) return Work::rises;
        const Map* map = as<Map>(kernel_, id);
        if (!map) return std::nullopt;
        const std::vector<Id>& operands = map->operands;
        switch (map->function) {
            case Elementwise::identity: return of(operands[0]);
            case Elementwise::add:
            case Elementwise::minimum:
            case Elementwise::maximum: return joined(of(operands[0]), of(operands[1]));
            case Elementwise::sub: return joined(of(operands[0]), turned(of(operands[1])));
            case Elementwise::where: return of_choice(operands);
            default: return std::nullopt;
        }
    }

    /// Where a condition holds at the first positions alone, a size or more is followed by zero:
    /// no query for keys behind the end.
    Trend of_choice(const std::vector<Id>& operands) const {
        const Trend values = joined(of(operands[1]), of(operands[2]));
        const auto& axes = kernel_.nodes[std::size_t(operands[0])].axes;
        if (std::find(axes.begin(), axes.end(), axis_) == axes.end()) return values;
        const Constant* otherwise = as<Constant>(kernel_, operands[2]);
        const bool ends = holds_at_first(operands[0]) && as<Extent>(kernel_, operands[1]) &&
                          otherwise && otherwise->value <= 0;
        return ends ? Trend(Work::falls) : std::nullopt;
    }

    bool holds_at_first(Id condition) const {
        const Map* map = as<Map>(kernel_, condition);
        if (!map || map->operands.size() != 2) return false;
        const Trend a = of(map->operands[0]), b = of(map->operands[1]);
        switch (map->function) {
            case Elementwise::lt:
            case Elementwise::le: return joined(turned(a), b) == Work::falls;
            case Elementwise::logical_or:
            case Elementwise::logical_and:
                return (a == Work::even || holds_at_first(map->operands[0])) &&
                       (b == Work::even || holds_at_first(map->operands[1]));
            default: return false;
        }
    }

    const Kernel& kernel_;
    AxisId axis_;
};

}  // namespace

Work work_along(const Kernel& kernel, AxisId axis) {
    Trend work = Work::even;
    for (const Node& node : kernel.nodes)
        if (auto loop = std::get_if<Loop>(&node.operation); loop && loop->kind == LoopKind::tiles)
            work = joined(work, Trends(kernel, axis).of_loop(*loop));
    return work.value_or(Work::even);
}

}  // namespace fovea::kernel
