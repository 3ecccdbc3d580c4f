#include "codegen/optimize/id_ranges.h"

#include <algorithm>
#include <cmath>

#include "codegen/graph/axes.h"
#include "codegen/graph/scan_function.h"

namespace fovea {

namespace {

void add(Contents& to, const Contents& from) {
    to.moved.insert(to.moved.end(), from.moved.begin(), from.moved.end());
    if (from.computed)
        to.computed = to.computed ? hull(*to.computed, *from.computed) : from.computed;
}

/// Moved to other places.
Contents moved(Contents contents) {
    for (InputPart& part : contents.moved) part.in_place = false;
    return contents;
}

/// The attention whose score a node of a region belongs to.
const Node* attention_of(const Graph& graph, int region) {
    for (const Node& node : graph.nodes)
        if (node.op == Op::attention &&
            graph.attentions[std::size_t(node.attribute)].region == region)
            return &node;
    return nullptr;
}

class Analysis {
  public:
    Analysis(const Graph& graph, const std::vector<Contents>* inputs)
        : graph_(graph), inputs_(inputs), of_(graph.nodes.size()) {}

    std::vector<Contents> run() {
        for (int id = 1; id < int(graph_.nodes.size()); ++id) {
            const Node& node = graph_[id];
            if (node.dtype == DType::boolean) of_[std::size_t(id)].computed = of_condition(id);
            else if (node.dtype == i32) of_[std::size_t(id)] = contents(id);
            else of_[std::size_t(id)].computed = of_floats(id);
        }
        return std::move(of_);
    }

  private:
    const Contents& of(int id, std::size_t i) const {
        return of_[std::size_t(graph_[id].inputs[i])];
    }
    /// What an operand lies between; nothing is known of elements of inputs.
    DimRange range(int id, std::size_t i) const {
        if (graph_[id].inputs[i] <= 0) return {};
        const Contents& contents = of(id, i);
        return contents.moved.empty() && contents.computed ? *contents.computed : DimRange{};
    }
    static Contents between(const Dim& low, const Dim& high) {
        return {.computed = DimRange{low.without_label(), high.without_label()}};
    }

    Contents contents(int id) {
        const Node& node = graph_[id];
        switch (node.op) {
            case Op::input: return of_input(id);
            case Op::constant: return of_constant(node.value);
            case Op::extent: return between(node.dim, node.dim);
            case Op::iota: return between(Dim(0), node.shape[node.axis] + Dim(-1));
            case Op::pair: return of_pair(node);
            case Op::elementwise: return of_elementwise(id);
            case Op::reduce: return {.computed = of_reduction(id)};
            case Op::scan: return of_scan(id);
            default: return op_def(node.op).steps ? of_positions(id) : of_copies(id);
        }
    }
    /// What is computed by an op that is not known, or the elements of its inputs.
    Contents of_copies(int id) {
        const int copied = op_def(graph_[id].op).copied;
        if (!copied) return {.computed = DimRange{}};
        if (copied == 1 && stays_in_place(graph_, id)) return of(id, 0);
        Contents all;
        for (std::size_t i = 0; i < std::size_t(copied) && graph_[id].inputs[i] > 0; ++i)
            add(all, moved(of(id, i)));
        return all;
    }
    /// Floats that are made of whole numbers alone, as a count of true ones; others may be NaN,
    /// which no bound holds for. Where the type does not hold each whole number up to a bound, a
    /// value may be rounded beyond it.
    DimRange of_floats(int id) {
        const DimRange exact = of_exact_floats(id);
        const DType type = graph_[id].dtype;
        const bool holds = exact.low && exact.high && holds_whole(type, *exact.low) &&
                           holds_whole(type, *exact.high);
        return holds ? exact : DimRange{};
    }
    /// Whether the type holds every whole number up to this one. Sizes are at most 2^24.
    static bool holds_whole(DType type, const Dim& bound) {
        const std::int64_t most = type == DType::bf16  ? std::int64_t(1) << 8
                                  : type == DType::f16 ? std::int64_t(1) << 11
                                                       : std::int64_t(1) << 24;
        if (bound.is_static()) return std::abs(bound.value()) <= most;
        if (type != f32 || bound.constant() > 0) return false;
        const std::vector<DimTerm> terms = bound.terms();
        return terms.size() == 1 && terms[0].factor == 1 && terms[0].symbols.size() == 1;
    }
    DimRange of_exact_floats(int id) {
        const Node& node = graph_[id];
        const bool moves = op_def(node.op).copied == 1;
        const bool chooses = node.op == Op::elementwise && node.function == Elementwise::where;
        if (node.op == Op::constant && node.value == std::trunc(node.value))
            return *of_constant(node.value).computed;
        if (!moves && node.op != Op::reduce && node.op != Op::elementwise) return {};
        if (node.op == Op::elementwise && node.function == Elementwise::div) return {};
        const std::size_t read = moves ? 1 : kMaxInputs;
        for (std::size_t i = chooses ? 1 : 0; i < read && node.inputs[i] > 0; ++i)
            if (const DimRange operand = range(id, i); !operand.low || !operand.high) return {};
        if (moves) return range(id, 0);
        return node.op == Op::reduce ? of_reduction(id) : *of_elementwise(id).computed;
    }
    Contents of_input(int id) const {
        if (inputs_) return (*inputs_)[std::size_t(id)];
        InputPart part{.input = id};
        for (const Dim& dim : graph_[id].shape) part.parts.push_back({Dim(0), dim.without_label()});
        return {.moved = {part}};
    }
    static Contents of_constant(double value) {
        if (!(value >= INT32_MIN && value <= INT32_MAX)) return {.computed = DimRange{}};
        return between(Dim(std::int64_t(value)), Dim(std::int64_t(value)));
    }
    Contents of_pair(const Node& node) const {
        const Node* attention = attention_of(graph_, node.region);
        if (!attention) return {.computed = DimRange{}};
        const Shape& queries = graph_[attention->inputs[0]].shape;
        const Shape& keys = graph_[attention->inputs[1]].shape;
        const auto below = [](const Dim& size) { return between(Dim(0), size + Dim(-1)); };
        switch (node.port.role) {
            case Role::batch: return below(queries[0]);
            case Role::head: return below(queries.rank() == 4 ? queries[1] : Dim(1));
            case Role::query_index: return below(queries[-2]);
            case Role::key_index: return below(keys[-2]);
            default: return {.computed = DimRange{}};
        }
    }
    /// 0 or 1, or the one of them that a comparison of what is known comes to.
    DimRange of_condition(int id) const {
        const Node& node = graph_[id];
        DimRange result{Dim(0), Dim(1)};
        if (node.op != Op::elementwise) return result;
        const bool at_most = node.function == Elementwise::le;
        if (!at_most && node.function != Elementwise::lt) return result;
        const DimRange a = range(id, 0), b = range(id, 1);
        const auto below = [](const std::optional<Dim>& x, const std::optional<Dim>& y, int more) {
            return x && y && is_at_most(*x + Dim(more), *y);
        };
        if (below(a.high, b.low, at_most ? 0 : 1)) result.low = Dim(1);
        if (below(b.high, a.low, at_most ? 1 : 0)) result.high = Dim(0);
        return result;
    }
    bool is(int id, Elementwise function) const {
        return graph_[id].op == Op::elementwise && graph_[id].function == function;
    }
    /// The positive number that a value is; 0 for all else.
    std::int64_t positive_number(int id) const {
        const DimRange& range = *of_[std::size_t(id)].computed;
        const bool known = of_[std::size_t(id)].moved.empty() && range.low && range.high &&
                           range.low->is_static() && *range.low == *range.high;
        return known ? std::max<std::int64_t>(range.low->value(), 0) : 0;
    }
    /// What is left of a division by a number: a - a / b * b, with the sign of a.
    std::optional<DimRange> of_rest(int id) const {
        if (!is(id, Elementwise::sub) || !is(graph_[id].inputs[1], Elementwise::mul)) return {};
        const int divided = graph_[id].inputs[0], product = graph_[id].inputs[1];
        const int quotient = graph_[product].inputs[0], by = graph_[product].inputs[1];
        if (!is(quotient, Elementwise::div) || graph_[quotient].inputs[0] != divided) return {};
        const std::int64_t number = is_number(by) ? positive_number(by) : 0;
        if (!number || !is_number(graph_[quotient].inputs[1]) ||
            positive_number(graph_[quotient].inputs[1]) != number)
            return {};
        const DimRange a = range(id, 0);
        const bool positive = a.low && is_at_most(Dim(0), *a.low);
        return DimRange{Dim(positive ? 0 : 1 - number), Dim(number - 1)};
    }
    bool is_number(int id) const {
        return graph_[id].dtype == i32 && bool(of_[std::size_t(id)].computed);
    }
    /// The rest where it is not negative, else `number` more: from 0 to below that.
    std::optional<DimRange> of_remainder(int id) const {
        const Node& node = graph_[id];
        const int rest = node.inputs[2], more = node.inputs[1], below = node.inputs[0];
        const std::optional<DimRange> left = of_rest(rest);
        if (!left || !is(more, Elementwise::add) || graph_[more].inputs[0] != rest) return {};
        const bool chooses = is(below, Elementwise::lt) && graph_[below].inputs[0] == rest &&
                             is_number(graph_[below].inputs[1]) && is_zero(graph_[below].inputs[1]);
        const int by = graph_[more].inputs[1];
        if (!chooses || !is_number(by) || positive_number(by) != left->high->value() + 1) return {};
        return DimRange{Dim(0), left->high};
    }
    bool is_zero(int id) const {
        const DimRange& range = *of_[std::size_t(id)].computed;
        return range.low && range.high && *range.low == Dim(0) && *range.high == Dim(0);
    }
    /// Of a condition that is known only what it chooses.
    DimRange of_choice(int id) const {
        const DimRange condition = range(id, 0);
        if (condition.low && *condition.low == Dim(1)) return range(id, 1);
        if (condition.high && *condition.high == Dim(0)) return range(id, 2);
        if (graph_[id].dtype == i32)
            if (const auto remainder = of_remainder(id)) return *remainder;
        return hull(range(id, 1), range(id, 2));
    }

    Contents of_elementwise(int id) const {
        const Node& node = graph_[id];
        if (node.function == Elementwise::where) return {.computed = of_choice(id)};
        if (node.dtype == i32)
            if (const auto rest = of_rest(id)) return {.computed = rest};
        if (node.function == Elementwise::identity && graph_[node.inputs[0]].dtype == i32)
            return of(id, 0);
        const DimRange other = row_of(node.function).arity == 2 ? range(id, 1) : DimRange{};
        return {.computed = range_of(node.function, range(id, 0), other)};
    }
    /// Whether a reduction is of one value at least: the largest of none is the lowest number.
    static bool has_terms(const Node& reduction, const Shape& shape) {
        for (int axis = 0; axis < shape.rank(); ++axis)
            if ((reduction.axis >> axis & 1) && !is_at_most(Dim(1), shape[axis].without_label()))
                return false;
        return true;
    }
    DimRange of_reduction(int id) const {
        const Node& node = graph_[id];
        const Shape& shape = graph_[node.inputs[0]].shape;
        DimRange result = range(id, 0);
        if (node.reduction == Reduction::max) return has_terms(node, shape) ? result : DimRange{};
        for (int axis = 0; axis < shape.rank(); ++axis)
            if (node.axis >> axis & 1) result = range_of_sum(result, shape[axis]);
        return result;
    }
    /// Positions beside each other of what lies as in an input are a part of it; of what was moved
    /// before nobody knows which part it is, and checks know of no parts with gaps.
    Contents of_positions(int id) const {
        const Steps steps = op_def(graph_[id].op).steps(graph_[id]);
        Contents result = of(id, 0);
        if (result.moved.empty()) return result;
        const bool is_part = steps.along.size() == 1 && steps.along[0].step == 1;
        const bool known = std::all_of(result.moved.begin(), result.moved.end(),
                                       [](const InputPart& part) { return part.in_place; });
        if (!known || !is_part) return {.computed = DimRange{}};
        for (InputPart& part : result.moved) {
            AxisPart& axis = part.parts[std::size_t(steps.axis)];
            axis = {axis.first + steps.first.without_label(),
                    steps.along[0].extent.without_label()};
        }
        return result;
    }
    /// A state is what any step left; a result is what every step gives.
    Contents of_scan(int id) {
        if (!is_scan(graph_, id)) return {.computed = DimRange{}};
        const ScanFunction& function = *scan_of(graph_, id).function;
        const int number = graph_[id].axis - function.states;
        if (number < 0) return {.computed = DimRange{}};
        const std::vector<Contents> inputs = contents_of_inputs(graph_, id, of_);
        const std::vector<Contents> inside = contents_of(function.step, &inputs);
        const int output = find_output(function.step, Port{Role::result, number});
        return moved(inside[std::size_t(function.step[output].inputs[0])]);
    }

    const Graph& graph_;
    const std::vector<Contents>* inputs_;
    std::vector<Contents> of_;
};

/// Whether what `a` asks for holds wherever `b` holds.
bool follows(const InputCheck& a, const InputCheck& b) {
    const bool covers = b.parts.empty() || a.parts == b.parts;
    return a.input == b.input && covers && a.holds == b.holds && is_at_most(b.limit, a.limit);
}

class InputChecks {
  public:
    explicit InputChecks(const Graph& graph) : graph_(graph) { collect(graph, contents_of(graph)); }
    std::vector<InputCheck> take() {
        std::vector<InputCheck> kept;
        for (const InputCheck& check : found_) {
            const auto known = [&](const InputCheck& other) { return follows(check, other); };
            if (std::any_of(kept.begin(), kept.end(), known)) continue;
            std::erase_if(kept, [&](const InputCheck& other) { return follows(other, check); });
            kept.push_back(check);
        }
        return kept;
    }

  private:
    void collect(const Graph& graph, const std::vector<Contents>& contents) {
        for (int id = 1; id < int(graph.nodes.size()); ++id) {
            if (const Node& node = graph[id]; node.op == Op::input && !(node.dim == kNoDim))
                found_.push_back({id, Holds::ids, node.dim, {}});
            for (const IdOperand& operand : id_operands(graph, id))
                note(contents[std::size_t(graph[id].inputs[std::size_t(operand.operand)])],
                     operand);
            if (!is_scan(graph, id)) continue;
            const std::vector<Contents> inputs = contents_of_inputs(graph, id, contents);
            const Graph& step = scan_of(graph, id).function->step;
            collect(step, contents_of(step, &inputs));
        }
    }
    void note(const Contents& contents, const IdOperand& operand) {
        if (must_be_guarded(contents, operand.holds, operand.limit)) return;
        for (const InputPart& part : contents.moved) {
            const Shape& shape = graph_[part.input].shape;
            bool whole = true;
            for (int i = 0; i < shape.rank(); ++i)
                whole = whole &&
                        part.parts[std::size_t(i)] == AxisPart{Dim(0), shape[i].without_label()};
            found_.push_back({part.input, operand.holds, operand.limit.without_label(),
                              whole ? std::vector<AxisPart>() : part.parts});
        }
    }

    const Graph& graph_;
    std::vector<InputCheck> found_;
};

}  // namespace

std::vector<Contents> contents_of(const Graph& graph, const std::vector<Contents>* inputs) {
    return Analysis(graph, inputs).run();
}

std::vector<Contents> contents_of_inputs(const Graph& graph, int scan,
                                         const std::vector<Contents>& outside) {
    const ScanFunction& function = *scan_of(graph, scan).function;
    std::vector<Contents> inside(function.step.nodes.size());
    for (int i = 0; i < function.inputs(); ++i) {
        const int state = i - function.sequences, capture = state - function.states;
        const Contents& from = outside[std::size_t(graph[scan].inputs[std::size_t(i)])];
        const auto at = [&](Role role, int number) -> Contents& {
            return inside[std::size_t(find_input(function.step, {role, number}))];
        };
        if (state < 0) at(Role::value, i) = moved(from);
        else if (capture < 0) at(Role::state, state).computed = DimRange{};
        else at(Role::capture, capture) = from;
    }
    return inside;
}

bool must_be_guarded(const Contents& contents, Holds holds, const Dim& limit) {
    if (!contents.computed) return false;
    const auto& [low, high] = *contents.computed;
    const Dim last = holds == Holds::lengths ? limit : limit + Dim(-1);
    return !low || !high || !is_at_most(Dim(0), *low) || !is_at_most(*high, last);
}

std::vector<InputCheck> input_checks(const Graph& graph) { return InputChecks(graph).take(); }

}  // namespace fovea
