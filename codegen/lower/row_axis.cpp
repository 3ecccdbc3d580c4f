#include "codegen/lower/row_axis.h"

#include "codegen/graph/op.h"

namespace fovea::lower {

namespace {

bool mentions(const Dim& dim, Symbol symbol) {
    for (const DimTerm& term : dim.terms())
        for (Symbol s : term.symbols)
            if (term.factor && s == symbol) return true;
    return false;
}

class RowAxis {
  public:
    RowAxis(const Graph& step, Symbol rows) : step_(step), rows_(rows) {}

    std::optional<std::string> run() const {
        for (int id = 1; id < int(step_.nodes.size()); ++id) {
            const Node& node = step_[id];
            for (int i = 0; i < node.shape.rank(); ++i)
                if (mentions(node.shape[i], rows_) && !(i == 0 && has_rows(id)))
                    return "a value has them in another place";
            if (!keeps_rows(node)) return std::string(row_of(node.op).name) + " mixes them";
        }
        return {};
    }

  private:
    bool has_rows(int id) const {
        const Shape& shape = step_[id].shape;
        return id > 0 && shape.rank() > 0 && shape[0].bare_symbol() == rows_;
    }
    bool input_has_rows(const Node& node, std::size_t i) const {
        return node.inputs[i] > 0 && has_rows(node.inputs[i]);
    }
    bool keeps_rows(const Node& node) const {
        const bool first = input_has_rows(node, 0);
        switch (node.op) {
            case Op::input:
            case Op::parameter:
            case Op::constant:
            case Op::output:
            case Op::stop_gradient: return true;
            case Op::extent: return !mentions(node.dim, rows_);
            case Op::iota: return node.axis != 0 || !(node.shape[0].bare_symbol() == rows_);
            case Op::broadcast:
            case Op::elementwise: return is_aligned(node);
            case Op::reduce: return !first || !(node.axis & 1);
            case Op::slice: return !mentions(node.dim, rows_) && (!first || node.axis != 0);
            case Op::concat: return node.axis != 0 || !(first || input_has_rows(node, 1));
            case Op::rearrange: return !first || keeps_first(node);
            case Op::gather: return !first;
            case Op::einsum: return is_batched(node);
            default: return false;
        }
    }
    bool is_aligned(const Node& node) const {
        for (std::size_t i = 0; i < kMaxInputs; ++i)
            if (input_has_rows(node, i) && step_[node.inputs[i]].shape.rank() != node.shape.rank())
                return false;
        return true;
    }
    bool keeps_first(const Node& node) const {
        const RearrangeAxes& axes = step_.rearranges[std::size_t(node.attribute)];
        return axes.input_group[0] == 1 && axes.output_group[0] == 1 && axes.order[0] == 0;
    }
    bool is_batched(const Node& node) const {
        const EinsumAxes& axes = step_.einsums[std::size_t(node.attribute)];
        for (std::size_t i : {0, 1}) {
            const EinsumAxes::List& list = i ? axes.b : axes.a;
            if (input_has_rows(node, i) && (!axes.out.count || list.label[0] != axes.out.label[0]))
                return false;
        }
        return true;
    }

    const Graph& step_;
    Symbol rows_;
};

}  // namespace

std::optional<std::string> why_rows_are_mixed(const Graph& step, Symbol rows) {
    return RowAxis(step, rows).run();
}

}  // namespace fovea::lower
