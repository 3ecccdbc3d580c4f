#include "codegen/graph/axes.h"

#include <algorithm>

namespace fovea {

namespace {

std::ptrdiff_t long_axes(const Shape& shape) {
    return std::count_if(shape.begin(), shape.end(), [](const Dim& dim) { return !dim.is_one(); });
}

bool mentions(const Dim& dim, Symbol symbol) {
    for (const DimTerm& term : dim.terms())
        for (Symbol s : term.symbols)
            if (term.factor && s == symbol) return true;
    return false;
}

class Rows {
  public:
    Rows(const Graph& graph, Symbol rows) : graph_(graph), rows_(rows) {}

    std::optional<std::string> why_mixed() const {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            for (int i = 0; i < node.shape.rank(); ++i)
                if (mentions(node.shape[i], rows_) && !(i == 0 && has_rows(id)))
                    return "a value has them in another place";
            if (!keeps_rows(id)) return std::string(row_of(node.op).name) + " mixes them";
        }
        return {};
    }

  private:
    bool has_rows(int id) const {
        const Shape& shape = graph_[id].shape;
        return id > 0 && shape.rank() > 0 && shape[0].bare_symbol() == rows_;
    }
    bool keeps(int id, int operand) const {
        const AxisUse use = axis_use(graph_, id, operand, 0);
        return use.along == Along::maps && use.to == 0;
    }
    bool keeps_rows(int id) const {
        const Node& node = graph_[id];
        if (mentions(node.dim, rows_)) return false;
        bool reads = false;
        for (int i = 0; i < int(kMaxInputs); ++i) {
            const int input = node.inputs[std::size_t(i)];
            reads = reads || input > 0;
            if (input > 0 && has_rows(input) && !keeps(id, i)) return false;
        }
        return reads || !has_rows(id) || keeps(id, kOfResult);
    }

    const Graph& graph_;
    Symbol rows_;
};

}  // namespace

AxisUse axis_use(const Graph& graph, int id, int operand, int axis) {
    const Node& node = graph[id];
    const OpDef& def = op_def(node.op);
    return def.axis ? def.axis(graph, node, operand, axis) : AxisUse{};
}

bool maps_all(const Graph& graph, int id, int operand) {
    const Shape& shape = graph[graph[id].inputs[std::size_t(operand)]].shape;
    for (int axis = 0; axis < shape.rank(); ++axis)
        if (!shape[axis].is_one() && axis_use(graph, id, operand, axis).along != Along::maps)
            return false;
    return true;
}

bool stays_in_place(const Graph& graph, int id) {
    const Shape& shape = graph[graph[id].inputs[0]].shape;
    if (!(shape == graph[id].shape)) return false;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const AxisUse use = axis_use(graph, id, 0, axis);
        if (use.along != Along::maps || use.to != axis) return false;
    }
    return true;
}

bool grows(const Graph& step, int id, const std::vector<bool>& varies) {
    const Node& node = step[id];
    if (row_of(node.op).op_class != OpClass::elementwise) return false;
    for (int i = 0; i < int(kMaxInputs); ++i) {
        const int input = node.inputs[std::size_t(i)];
        if (input <= 0 || !varies[std::size_t(input)]) continue;
        if (!maps_all(step, id, i)) return false;
        const bool smaller = long_axes(step[input].shape) < long_axes(node.shape);
        if (!smaller && !grows(step, input, varies)) return false;
    }
    return true;
}

std::optional<std::string> why_rows_are_mixed(const Graph& graph, Symbol rows) {
    return Rows(graph, rows).why_mixed();
}

}  // namespace fovea
