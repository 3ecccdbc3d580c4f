// One walk over the nodes: what each value is to a run on some of the sequences.
#include "codegen/why_not_in_shards.h"

#include <algorithm>
#include <vector>

#include "codegen/graph/attention_input.h"
#include "codegen/graph/axes.h"
#include "codegen/graph/scan_function.h"
#include "codegen/ops/attention/score_function.h"

namespace fovea {

namespace {

/// What a value is to a run on some of the sequences.
enum class Share {
    common,  // the same in each
    rows,    // those of its sequences, along one axis
    sum,     // what its sequences add to a sum over all
};

/// What an operand gives, by what the op does along its axis of sequences.
enum class Gives { rows, sum, mixture };

class Walk {
  public:
    Walk(const Graph& graph, Symbol sequences)
        : graph_(graph), sequences_(sequences), share_(graph.nodes.size(), Share::common) {}

    std::optional<std::string> why_not() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id)
            if (auto reason = visit(id)) return reason;
        return {};
    }

  private:
    using Reason = std::optional<std::string>;

    std::string name(int id) const {
        const Node& node = graph_[id];
        if (node.op == Op::output || node.op == Op::input) return std::string(node.name);
        const OpRow& row = row_of(node.op);
        return std::string(row.op == Op::elementwise ? row_of(node.function).name : row.name);
    }
    /// `the mul of encoder.ln (model.cpp:12) does this`
    Reason because(int id, const std::string& text) const {
        const Location& at = graph_[id].location;
        std::string place = graph_.path(graph_.scope_of(id));
        if (at.line) {
            if (!place.empty()) place += ", ";
            place += std::string(at.file_name()) + ":" + std::to_string(at.line);
        }
        return name(id) + (place.empty() ? "" : " (" + place + ")") + " " + text;
    }

    /// The axis of sequences; -1: none, -2: there are several, or a size is made of their number.
    int axis_of(int id) const {
        const Shape& shape = graph_[id].shape;
        int axis = -1;
        for (int i = 0; i < shape.rank(); ++i) {
            if (!shape[i].holds(sequences_)) continue;
            axis = axis == -1 && shape[i].bare_symbol() == sequences_ ? i : -2;
        }
        return axis;
    }

    Reason visit(int id) {
        const Node& node = graph_[id];
        const int axis = axis_of(id);
        if (axis == -2) return because(id, "has a size that is made of the number of sequences");
        if (node.op != Op::output && node.dim.holds(sequences_))
            return because(id, "depends on the number of sequences");
        if (auto reason = combine(id, axis)) return reason;
        if (node.op == Op::output) return why_not_output(id, axis);
        return {};
    }

    Reason combine(int id, int axis) {
        const Node& node = graph_[id];
        int rows = 0, sums = 0, reduced = 0, read = 0;
        for (int i = 0; i < int(kMaxInputs); ++i) {
            const int input = node.inputs[std::size_t(i)];
            if (input <= 0) continue;
            ++read;
            if (share_[std::size_t(input)] == Share::sum) ++sums;
            if (share_[std::size_t(input)] != Share::rows) continue;
            const Gives gives = given(id, i, axis);
            if (gives == Gives::mixture) return because(id, "reads several sequences at a time");
            ++(gives == Gives::rows ? rows : reduced);
        }
        if (reduced > 0 && has_table(node)) {
            if (!is_sum_or_zero(node.inputs[2]))
                return because(id, "adds to a value that all sequences share");
            sums = 0;
        }
        if ((rows > 0) + (sums > 0) + (reduced > 0) > 1)
            return because(id, "reads a sum over all sequences beside single ones");
        if (sums > 0 && !is_linear(id)) return because(id, "is made of a sum over all sequences");
        Share& share = share_[std::size_t(id)];
        if (sums > 0 || reduced > 0) share = Share::sum;
        if (rows > 0 || axis >= 0) share = Share::rows;
        if (axis < 0 || rows > 0) return {};
        return sums || reduced || !is_same_for_all(id, axis, read)
                   ? because(id, "tells sequences apart by their number")
                   : Reason{};
    }

    /// Whether rows are added to a value that is there, a term of the sum.
    static bool has_table(const Node& node) {
        return row_of(node.op).op_class == OpClass::scatter && node.inputs[2] > 0;
    }

    /// Whether a value with an axis of sequences that is made of none has the same along it. Random
    /// numbers are those of the whole batch where rows are numbered along the first axis.
    bool is_same_for_all(int id, int axis, int read) const {
        const Node& node = graph_[id];
        if (op_def(node.op).draws) return axis == 0 && node.shape.rank() > 1;
        if (node.op == Op::input) return axis == 0;
        if (read == 0) return axis_use(graph_, id, kOfResult, axis).along == Along::maps;
        return row_of(node.op).op_class == OpClass::elementwise && !looks_up(node);
    }

    Gives given(int id, int operand, int axis) const {
        const Node& node = graph_[id];
        const int own = axis_of(node.inputs[std::size_t(operand)]);
        switch (row_of(node.op).op_class) {
            case OpClass::output: return Gives::rows;
            case OpClass::attention: return given_to_attention(id, operand, own, axis);
            case OpClass::scan: return given_to_scan(id, operand, own, axis);
            case OpClass::scatter:
                if (axis < 0 && own < graph_[node.inputs[1]].shape.rank()) return Gives::sum;
                break;
            default: break;
        }
        const AxisUse use = axis_use(graph_, id, operand, own);
        if (use.along == Along::maps && use.to == axis) return Gives::rows;
        const bool adds = node.op != Op::reduce || node.reduction == Reduction::sum;
        return use.along == Along::reduces && adds ? Gives::sum : Gives::mixture;
    }

    /// Batch elements are independent, unless the score counts them.
    Gives given_to_attention(int id, int operand, int own, int axis) const {
        const AttentionAttributes& attributes =
            graph_.attentions[std::size_t(graph_[id].attribute)];
        const bool gives_statistics = graph_[id].result == AttentionResult::statistics;
        const bool reads_statistics = operand == int(AttentionInput::statistics);
        if (own != int(reads_statistics) || axis != int(gives_statistics)) return Gives::mixture;
        return reads_batch(attributes.function->forward) ? Gives::mixture : Gives::rows;
    }
    static bool reads_batch(const Graph& score) {
        for (const Node& node : score.nodes)
            for (int input : node.inputs)
                if (input > 0 && score[input].port.role == Role::batch) return true;
        return false;
    }

    Gives given_to_scan(int id, int operand, int own, int axis) const {
        const ScanAttributes& scan = scan_of(graph_, id);
        const bool is_sequence = operand < scan.function->sequences;
        const bool fits = own == (is_sequence ? 1 : 0) && axis == 1;
        if (!fits || scan.steps.holds(sequences_)) return Gives::mixture;
        return why_rows_are_mixed(scan.function->step, sequences_) ? Gives::mixture : Gives::rows;
    }

    /// Whether a node that reads sums, and no single sequences, is linear in them.
    bool is_linear(int id) const {
        const Node& node = graph_[id];
        const auto is_sum = [&](int i) {
            const int input = node.inputs[std::size_t(i)];
            return input > 0 && share_[std::size_t(input)] == Share::sum;
        };
        switch (row_of(node.op).op_class) {
            case OpClass::output:
            case OpClass::view: return true;
            case OpClass::reduction: return node.reduction == Reduction::sum;
            case OpClass::contraction: return is_sum(0) != is_sum(1);
            case OpClass::copy: return are_sums_or_zero(id);
            case OpClass::elementwise: break;
            default: return false;
        }
        if (node.op == Op::broadcast || node.op == Op::stop_gradient) return is_sum(0);
        if (node.op != Op::elementwise) return false;
        switch (node.function) {
            case Elementwise::identity: return node.dtype == DType::f32;
            case Elementwise::neg: return true;
            case Elementwise::add:
            case Elementwise::sub: return are_sums_or_zero(id);
            case Elementwise::mul: return is_sum(0) != is_sum(1);
            case Elementwise::div: return is_sum(0) && !is_sum(1);
            default: return false;
        }
    }
    bool is_zero(int id) const {
        const Node& node = graph_[id];
        if (node.op == Op::broadcast) return is_zero(node.inputs[0]);
        return node.op == Op::constant && node.value == 0;
    }
    bool are_sums_or_zero(int id) const {
        return std::all_of(graph_[id].inputs.begin(), graph_[id].inputs.end(),
                           [&](int input) { return input <= 0 || is_sum_or_zero(input); });
    }
    bool is_sum_or_zero(int id) const {
        return share_[std::size_t(id)] == Share::sum || is_zero(id);
    }

    Reason why_not_output(int id, int axis) const {
        const Node& node = graph_[id];
        if (is_check(node)) return because(id, "is checked after a run, for the whole batch");
        if (axis > 0) return because(id, "has its sequences along another axis than the first");
        if (axis == 0) return {};
        if (!is_sum_or_zero(node.inputs[0])) return because(id, "is no sum over sequences");
        if (node.dtype != DType::f32) return because(id, "is a sum that is not float32");
        return {};
    }

    const Graph& graph_;
    Symbol sequences_;
    std::vector<Share> share_;
};

}  // namespace

Dim sequences_of(const Graph& graph) {
    for (const Node& node : graph.nodes) {
        if (node.op != Op::input) continue;
        const bool has_any = node.shape.rank() > 0 && node.shape[0].bare_symbol();
        return has_any ? node.shape[0].without_label() : Dim(0);
    }
    return 0;
}

std::optional<std::string> why_not_in_shards(const Graph& graph, Symbol sequences) {
    return Walk(graph, sequences).why_not();
}

}  // namespace fovea
