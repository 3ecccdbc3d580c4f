// Tiles are dense arrays over their axes; each node fills one, loops of points repeat their block.
#include "codegen/kernel/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/base/error.h"
#include "codegen/kernel/infer_types.h"
#include "codegen/kernel/print.h"

namespace fovea::kernel {
namespace {

using LoopPosition = std::vector<std::int64_t>;  // one entry per axis of the kernel

class Evaluator {
  public:
    Evaluator(const Kernel& kernel, const DimValues& dims,
              std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout,
              std::int64_t tile)
        : kernel_(kernel),
          dims_(dims),
          buffers_(buffers),
          dropout_(dropout),
          tile_(tile),
          tiles_(kernel.nodes.size()),
          position_(kernel.axes.size(), 0),
          places_(kernel.nodes.size()) {
        for (const Axis& axis : kernel.axes) {
            extents_.push_back(value_of(axis.extent, dims));
            ranges_.push_back({0, extents_.back()});
        }
        for (Id id = 0; id < Id(kernel.nodes.size()); ++id) {
            if (auto load = as<Load>(kernel, id)) places_[std::size_t(id)] = place(load->access);
            if (auto store = as<Store>(kernel, id)) places_[std::size_t(id)] = place(store->access);
        }
    }

    void block(const std::vector<Id>& ids) {
        for (Id id : ids) {
            auto loop = as<Loop>(kernel_, id);
            if (!loop) run(id);
            else if (loop->kind == LoopKind::par) block(loop->body);
            else if (loop->kind == LoopKind::tiles) tiles(id, *loop);
            else points(*loop);
        }
    }

  private:
    /// The positions of an axis that tiles cover: all, or those of the current tile.
    struct Range {
        std::int64_t first, end;
    };

    /// An access with the sizes put in, so that it is found once and not for every element.
    struct Place {
        struct Step {
            AxisId axis;
            std::int64_t step, panel, inside;  // no panels: 0
        };
        std::int64_t offset = 0, row_stride = 0;
        std::vector<Step> steps;
    };

    void tiles(Id id, const Loop& loop) {
        const auto tile = [&](Id node) -> std::vector<double>& {
            return tiles_[std::size_t(node)];
        };
        std::int64_t first = 0, end = extents_[std::size_t(loop.axis)];
        if (loop.lower >= 0) first = std::max(first, smallest(tile(loop.lower), end));
        if (loop.upper >= 0) end = std::min(end, -smallest(negated(tile(loop.upper)), 0));
        first -= first % tile_;
        for (const Carry& carry : loop.carries) tile(carry.argument) = tile(carry.initial);
        for (; first < end; first += tile_) {
            const std::int64_t extent = extents_[std::size_t(loop.axis)];
            ranges_[std::size_t(loop.axis)] = {first, std::min(first + tile_, extent)};
            block(loop.body);
            std::vector<std::vector<double>> next;
            for (const Carry& carry : loop.carries) next.push_back(tile(carry.next));
            for (std::size_t i = 0; i < next.size(); ++i)
                tile(loop.carries[i].argument) = std::move(next[i]);
        }
        ranges_[std::size_t(loop.axis)] = {0, extents_[std::size_t(loop.axis)]};
        for (Id node = id + 1; node < Id(kernel_.nodes.size()); ++node)
            if (auto result = as<Result>(kernel_, node); result && result->loop == id)
                tile(node) = tile(loop.carries[std::size_t(result->number)].argument);
    }

    static std::int64_t smallest(const std::vector<double>& values, std::int64_t none) {
        if (values.empty()) return none;
        return std::int64_t(*std::min_element(values.begin(), values.end()));
    }
    static std::vector<double> negated(std::vector<double> values) {
        for (double& value : values) value = -value;
        return values;
    }

    void points(const Loop& loop) {
        std::int64_t& at = position_[std::size_t(loop.axis)];
        for (at = 0; at < extents_[std::size_t(loop.axis)]; ++at) block(loop.body);
        at = 0;
    }

    /// Calls `body()` at every position along `axes`, the last axis fastest.
    template <class Body>
    void over(const std::vector<AxisId>& axes, const Body& body, std::size_t first = 0) {
        if (first == axes.size()) return body();
        std::int64_t& at = position_[std::size_t(axes[first])];
        const Range range = ranges_[std::size_t(axes[first])];
        for (at = range.first; at < range.end; ++at) over(axes, body, first + 1);
        at = 0;
    }

    void run(Id id) {
        if (as<Carried>(kernel_, id) || as<Result>(kernel_, id)) return;  // filled by their loop
        if (auto store = as<Store>(kernel_, id)) return run_store(id, *store);
        const Node& node = kernel_.nodes[std::size_t(id)];
        std::vector<double>& tile = tiles_[std::size_t(id)];
        tile.clear();
        over(node.axes, [&] { tile.push_back(value(id)); });
    }

    void run_store(Id id, const Store& store) {
        std::vector<AxisId> axes = kernel_.nodes[std::size_t(store.value)].axes;
        const auto moved = [&](AxisId axis) { axes.push_back(axis); };
        for (const Stride& stride : store.access.strides)
            if (!is_point(stride.axis)) moved(stride.axis);
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
        over(axes, [&] {
            double& element = at(id, store.access);
            element = (store.accumulate ? element : 0) + get(store.value);
        });
    }

    bool is_point(AxisId axis) const {
        for (const Node& node : kernel_.nodes)
            if (auto loop = std::get_if<Loop>(&node.operation))
                if (loop->axis == axis && leaves_types(loop->kind)) return true;
        return false;
    }

    double value(Id id) {
        if (auto constant = as<Constant>(kernel_, id)) return constant->value;
        if (auto extent = as<Extent>(kernel_, id)) return double(value_of(extent->dim, dims_));
        if (auto index = as<Index>(kernel_, id)) return double(position_[std::size_t(index->axis)]);
        if (auto load = as<Load>(kernel_, id)) return at(id, load->access);
        if (auto valid = as<Valid>(kernel_, id)) {
            const std::int64_t at = position_[std::size_t(valid->axis)];
            return double((valid->lower < 0 || double(at) >= get(valid->lower)) &&
                          (valid->upper < 0 || double(at) < get(valid->upper)));
        }
        if (auto map = as<Map>(kernel_, id)) {
            double x[3]{};
            for (std::size_t i = 0; i < map->operands.size(); ++i) x[i] = get(map->operands[i]);
            if (map->cast_to && is_half(*map->cast_to)) return converted(x[0], *map->cast_to);
            const bool whole = kernel_.nodes[std::size_t(id)].dtype == DType::i32;
            return whole ? whole_value(map->function, x[0], x[1], x[2])
                         : row_of(map->function).value(x[0], x[1], x[2]);
        }
        if (auto random = as<Random>(kernel_, id)) {
            if (!dropout_) throw InternalError(kernel_.name + ": dropout has no generator");
            return dropout_(random->site, random->probability, sum(place(random->row, Dim(0))),
                            sum(place(random->column, Dim(0))));
        }
        if (auto reduce = as<Reduce>(kernel_, id)) {
            const bool adds = reduce->reduction == Reduction::sum;
            double total = adds ? 0 : -std::numeric_limits<double>::infinity();
            over_rows(reduce->axes, reduce->blocks, reduce->operand, reduce->operand,
                      [&](double x, double) {
                          total = adds ? total + x : x > total || x != x ? x : total;
                      });
            return total;
        }
        auto contract = as<Contract>(kernel_, id);
        double total = 0;
        over_rows(contract->axes, contract->blocks, contract->a, contract->b,
                  [&](double a, double b) { total += a * b; });
        return total;
    }

    /// Calls `visit` with the values of two tiles at the positions along `axes` that are in the
    /// current block of `blocks`, the last axis fastest: along it both are read with a stride.
    template <class Visit>
    void over_rows(const std::vector<AxisId>& axes, AxisId blocks, Id a, Id b, const Visit& visit) {
        const Range block = block_of(axes, blocks);
        if (axes.empty()) {
            if (block.first < block.end) visit(get(a), get(b));
            return;
        }
        const Range row = ranges_[std::size_t(axes.back())];
        const std::vector<AxisId> outer(axes.begin(), axes.end() - 1);
        const std::size_t step_a = step_along(a, axes.back()), step_b = step_along(b, axes.back());
        std::int64_t number = 0;  // of the first position of a row
        position_[std::size_t(axes.back())] = row.first;
        over(outer, [&] {
            const std::int64_t first = std::max<std::int64_t>(block.first - number, 0);
            const std::int64_t end = std::min(block.end - number, row.end - row.first);
            number += row.end - row.first;
            if (first >= end) return;
            std::size_t at_a = offset(a) + step_a * std::size_t(first);
            std::size_t at_b = offset(b) + step_b * std::size_t(first);
            const std::vector<double>&of_a = tiles_[std::size_t(a)], &of_b = tiles_[std::size_t(b)];
            for (std::int64_t i = first; i < end; ++i, at_a += step_a, at_b += step_b)
                visit(of_a[at_a], of_b[at_b]);
        });
        position_[std::size_t(axes.back())] = 0;
    }

    Range block_of(const std::vector<AxisId>& axes, AxisId blocks) const {
        std::int64_t count = 1;
        for (AxisId axis : axes)
            count *= ranges_[std::size_t(axis)].end - ranges_[std::size_t(axis)].first;
        if (blocks < 0) return {0, count};
        const std::int64_t block = position_[std::size_t(blocks)];
        const std::int64_t all = ranges_[std::size_t(blocks)].end;
        return {count * block / all, count * (block + 1) / all};
    }

    /// The value of a tile at the current position.
    double get(Id id) const { return tiles_[std::size_t(id)][offset(id)]; }

    std::size_t offset(Id id) const {
        std::size_t at = 0;
        for (AxisId axis : kernel_.nodes[std::size_t(id)].axes) {
            const Range range = ranges_[std::size_t(axis)];
            at = at * std::size_t(range.end - range.first) +
                 std::size_t(position_[std::size_t(axis)] - range.first);
        }
        return at;
    }

    /// How far apart neighbours along an axis are in a tile: 0 where it has no such axis.
    std::size_t step_along(Id id, AxisId along) const {
        std::size_t step = 0;
        for (AxisId axis : kernel_.nodes[std::size_t(id)].axes) {
            const Range range = ranges_[std::size_t(axis)];
            step = axis == along ? 1 : step * std::size_t(range.end - range.first);
        }
        return step;
    }

    double& at(Id id, const Access& access) {
        const Place& place = places_[std::size_t(id)];
        std::int64_t index = sum(place);
        if (access.row >= 0) index += std::int64_t(get(access.row)) * place.row_stride;
        std::vector<double>& buffer = buffers_[std::size_t(access.buffer)];
        if (index < 0 || index >= std::int64_t(buffer.size()))
            throw InternalError(kernel_.name + ": element " + std::to_string(index) + " of " +
                                kernel_.buffers[std::size_t(access.buffer)].name + ", which has " +
                                std::to_string(buffer.size()));
        return buffer[std::size_t(index)];
    }

    Place place(const Access& access) const {
        Place result = place(access.strides, access.offset);
        if (access.row >= 0) result.row_stride = value_of(access.row_stride, dims_);
        return result;
    }

    Place place(const std::vector<Stride>& strides, const Dim& offset) const {
        Place result;
        result.offset = value_of(offset, dims_);
        for (const Stride& stride : strides)
            result.steps.push_back(
                {stride.axis, value_of(stride.stride, dims_), stride.panel, stride.step});
        return result;
    }

    std::int64_t sum(const Place& place) const {
        std::int64_t result = place.offset;
        for (const auto& [axis, step, panel, inside] : place.steps) {
            const std::int64_t at = position_[std::size_t(axis)];
            result += panel ? at / panel * step + at % panel * inside : at * step;
        }
        return result;
    }

    const Kernel& kernel_;
    const DimValues& dims_;
    std::vector<std::vector<double>>& buffers_;
    const DropoutFactor& dropout_;
    std::int64_t tile_;
    std::vector<std::vector<double>> tiles_;
    LoopPosition position_;
    std::vector<std::int64_t> extents_;
    std::vector<Range> ranges_;  // by axis
    std::vector<Place> places_;  // of loads and stores, by node
};

}  // namespace

std::int64_t value_of(const Dim& dim, const DimValues& dims) {
    std::int64_t result = dim.constant();
    for (const DimTerm& term : dim.terms()) {
        std::int64_t product = term.factor;
        for (Symbol symbol : term.symbols) {
            if (!symbol || !term.factor) continue;
            Text name;
            name << symbol;
            const auto found = dims.find(std::string(name.view()));
            if (found == dims.end()) throw InternalError("no value for a dim in " + text_of(dim));
            product *= found->second;
        }
        result += product;
    }
    return result;
}

void evaluate(const Kernel& kernel, const DimValues& dims,
              std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout,
              std::int64_t tile) {
    if (buffers.size() != kernel.buffers.size())
        throw InternalError(kernel.name + ": one array per buffer is needed");
    if (kernel.steps) return evaluate_steps(kernel, dims, buffers, dropout, tile);
    Evaluator(kernel, dims, buffers, dropout, tile).block(kernel.body);
}

}  // namespace fovea::kernel
