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

using Position = std::vector<std::int64_t>;  // one entry per axis of the kernel

class Evaluator {
  public:
    Evaluator(const Kernel& kernel, const DimValues& dims,
              std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout)
        : kernel_(kernel),
          dims_(dims),
          buffers_(buffers),
          dropout_(dropout),
          tiles_(kernel.nodes.size()),
          position_(kernel.axes.size(), 0) {
        for (const Axis& axis : kernel.axes) extents_.push_back(value_of(axis.extent, dims));
    }

    void block(const std::vector<Id>& ids) {
        for (Id id : ids) {
            auto loop = as<Loop>(kernel_, id);
            if (!loop) run(id);
            else if (loop->kind == LoopKind::par) block(loop->body);
            else points(*loop);
        }
    }

  private:
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
        for (at = 0; at < extents_[std::size_t(axes[first])]; ++at) over(axes, body, first + 1);
        at = 0;
    }

    void run(Id id) {
        if (auto store = as<Store>(kernel_, id)) return run_store(*store);
        const Node& node = kernel_.nodes[std::size_t(id)];
        std::vector<double>& tile = tiles_[std::size_t(id)];
        tile.clear();
        over(node.axes, [&] { tile.push_back(value(id)); });
    }

    void run_store(const Store& store) {
        std::vector<AxisId> axes = kernel_.nodes[std::size_t(store.value)].axes;
        const auto moved = [&](AxisId axis) { axes.push_back(axis); };
        for (const Stride& stride : store.access.strides)
            if (!is_point(stride.axis)) moved(stride.axis);
        std::sort(axes.begin(), axes.end());
        axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
        over(axes, [&] {
            double& element = at(store.access);
            element = (store.accumulate ? element : 0) + get(store.value);
        });
    }

    bool is_point(AxisId axis) const {
        for (const Node& node : kernel_.nodes)
            if (auto loop = std::get_if<Loop>(&node.operation))
                if (loop->axis == axis && loop->kind != LoopKind::par) return true;
        return false;
    }

    double value(Id id) {
        if (auto constant = as<Constant>(kernel_, id)) return constant->value;
        if (auto extent = as<Extent>(kernel_, id)) return double(value_of(extent->dim, dims_));
        if (auto index = as<Index>(kernel_, id)) return double(position_[std::size_t(index->axis)]);
        if (auto load = as<Load>(kernel_, id)) return at(load->access);
        if (auto map = as<Map>(kernel_, id)) {
            double x[3]{};
            for (std::size_t i = 0; i < map->operands.size(); ++i) x[i] = get(map->operands[i]);
            return row_of(map->function).value(x[0], x[1], x[2]);
        }
        if (auto random = as<Random>(kernel_, id)) {
            if (!dropout_) throw InternalError(kernel_.name + ": dropout has no generator");
            return dropout_(random->site, random->probability, sum(random->row, Dim(0)),
                            sum(random->column, Dim(0)));
        }
        if (auto reduce = as<Reduce>(kernel_, id)) {
            const bool adds = reduce->reduction == Reduction::sum;
            double total = adds ? 0 : -std::numeric_limits<double>::infinity();
            over(reduce->axes, [&] {
                const double x = get(reduce->operand);
                total = adds ? total + x : std::max(total, x);
            });
            return total;
        }
        auto contract = as<Contract>(kernel_, id);
        double total = 0;
        over(contract->axes, [&] { total += get(contract->a) * get(contract->b); });
        return total;
    }

    /// The value of a tile at the current position.
    double get(Id id) const {
        std::size_t at = 0;
        for (AxisId axis : kernel_.nodes[std::size_t(id)].axes)
            at = at * std::size_t(extents_[std::size_t(axis)]) +
                 std::size_t(position_[std::size_t(axis)]);
        return tiles_[std::size_t(id)][at];
    }

    double& at(const Access& access) {
        std::int64_t index = sum(access.strides, access.offset);
        if (access.row >= 0)
            index += std::int64_t(get(access.row)) * value_of(access.row_stride, dims_);
        std::vector<double>& buffer = buffers_[std::size_t(access.buffer)];
        if (index < 0 || index >= std::int64_t(buffer.size()))
            throw InternalError(kernel_.name + ": element " + std::to_string(index) + " of " +
                                kernel_.buffers[std::size_t(access.buffer)].name + ", which has " +
                                std::to_string(buffer.size()));
        return buffer[std::size_t(index)];
    }

    std::int64_t sum(const std::vector<Stride>& strides, const Dim& offset) const {
        std::int64_t result = value_of(offset, dims_);
        for (const Stride& stride : strides)
            result += position_[std::size_t(stride.axis)] * value_of(stride.stride, dims_);
        return result;
    }

    const Kernel& kernel_;
    const DimValues& dims_;
    std::vector<std::vector<double>>& buffers_;
    const DropoutFactor& dropout_;
    std::vector<std::vector<double>> tiles_;
    Position position_;
    std::vector<std::int64_t> extents_;
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
              std::vector<std::vector<double>>& buffers, const DropoutFactor& dropout) {
    if (buffers.size() != kernel.buffers.size())
        throw InternalError(kernel.name + ": one array per buffer is needed");
    Evaluator(kernel, dims, buffers, dropout).block(kernel.body);
}

}  // namespace fovea::kernel
