// The rules of the error analysis, one for each kind of primitive.
#include "codegen/reference/error_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/graph/scan_function.h"
#include "codegen/ops/array_loop.h"
#include "codegen/reference/elementwise_error.h"
#include "codegen/reference/scan_run.h"
#include "codegen/reference/unit_rounding.h"

namespace fovea {

namespace {

/// Whether a value is a sum, negated or scaled: kernels may take tanh of such from the exponentials
/// of its terms (codegen/kernel/rewrites/split_exponentials.h), as 1 - 2 / (1 + e^2x).
bool is_sum(const Graph& graph, int id) {
    while (graph[id].op == Op::broadcast ||
           (graph[id].op == Op::elementwise &&
            (graph[id].function == Elementwise::neg || graph[id].function == Elementwise::mul)))
        id = graph[id].inputs[0];
    const Node& node = graph[id];
    return node.op == Op::elementwise &&
           (node.function == Elementwise::add || node.function == Elementwise::sub);
}

Array absolute(Array array) {
    for (double& value : array.values) value = std::abs(value);
    return array;
}

bool is_zero(const Array& array) {
    return std::all_of(array.values.begin(), array.values.end(),
                       [](double value) { return value == 0; });
}

void add_to(Array& total, const Array& more, double times = 1) {
    for (std::size_t i = 0; i < total.values.size(); ++i)
        if (more.values[i] != 0) total.values[i] += times * more.values[i];
}

/// The error of a value behind its rounding to a format: what is close to the middle of two values
/// there may become either.
double with_rounding(const NumberFormat& format, double value, double error) {
    if (value == 0 && error == 0) return 0;
    return error + format.spacing(std::abs(value) + error);
}

/// How far the rounded value moves when the value moves by its error.
double moved_in(const NumberFormat& format, double value, double error) {
    if (!std::isfinite(error)) return kNoBound;
    const double low = format.nearest(value - error), high = format.nearest(value + error);
    if (low == high) return 0;  // both infinite, perhaps
    if (!std::isfinite(low) || !std::isfinite(high)) return kNoBound;
    const double y = format.nearest(value);
    return std::max(high - y, y - low);
}

/// Operand `i` as a comparison of such values takes it.
void round(const NumberFormat& format, Operands& x, int i) {
    x.error[i] = moved_in(format, x.value[i], x.error[i]);
    x.value[i] = format.nearest(x.value[i]);
}

}  // namespace

ErrorBounds::ErrorBounds(Interpreter& reference, double unit)
    : ErrorBounds(reference, unit, reference.factors()) {}

ErrorBounds::ErrorBounds(Interpreter& part, double unit, const NumberFormat* factors)
    : reference_(part), unit_(unit), factors_(factors) {
    forget();
}

ErrorBounds ErrorBounds::of_part(Interpreter& part) const {
    ErrorBounds bounds(part, unit_, factors_);
    bounds.counts_terms_ = counts_terms_;
    return bounds;
}

void ErrorBounds::forget() {
    bounds_.assign(reference_.graph().nodes.size(), {});
    for (int id = 1; id < int(bounds_.size()); ++id)
        if (reference_.is_assumed(id)) bounds_[std::size_t(id)] = like(id);
}

Array ErrorBounds::like(int id) const {
    Array array{{}, {}};
    for (const Dim& dim : reference_.graph()[id].shape)
        array.shape.push_back(value_of(reference_.sizes(), dim));
    array.values.assign(std::size_t(array.size()), 0);
    return array;
}

Array ErrorBounds::apply(int id, const std::vector<const Array*>& operands) const {
    Array result = like(id);
    op_def(reference_.graph()[id].op)
        .reference(
            {reference_.graph(), id, operands, result.shape, 0, 0, size_among, &reference_.sizes()},
            result);
    return result;
}

const Array& ErrorBounds::operand_value(int id, int i) {
    return reference_.value(reference_.graph()[id].inputs[std::size_t(i)]);
}
const Array& ErrorBounds::operand_bound(int id, int i) {
    return *bounds_[std::size_t(reference_.graph()[id].inputs[std::size_t(i)])];
}

const Array& ErrorBounds::of(int id) {
    reference_.value(id);
    for (std::vector<int> stack{id}; !stack.empty();) {  // inputs first, without recursion
        const int top = stack.back();
        const std::size_t before = stack.size();
        if (!bounds_[std::size_t(top)])
            for (int input : reference_.graph()[top].inputs)
                if (input > 0 && !bounds_[std::size_t(input)]) stack.push_back(input);
        if (stack.size() > before) continue;
        stack.pop_back();
        if (bounds_[std::size_t(top)]) continue;
        if (is_scan(reference_.graph(), top)) scan(top);
        else bounds_[std::size_t(top)] = evaluate(top);
        leave_out_infinite(top);
        const NumberFormat* format = reference_.format(top);
        if (!format || row_of(reference_.graph()[top].op).op_class == OpClass::leaf) continue;
        std::vector<double>& errors = bounds_[std::size_t(top)]->values;
        for (std::size_t i = 0; i < errors.size(); ++i)
            errors[i] = with_rounding(*format, reference_.value(top).values[i], errors[i]);
    }
    return *bounds_[std::size_t(id)];
}

/// What float32 is far too short for has no bound. Numbers not far beyond its largest are left:
/// masks hide scores with the lowest one, which is then scaled, or something is subtracted from it.
void ErrorBounds::leave_out_infinite(int id) {
    constexpr double kFar = 4 * double(std::numeric_limits<float>::max());
    if (!is_float(reference_.graph()[id].dtype)) return;
    const std::vector<double>& values = reference_.value(id).values;
    std::vector<double>& errors = bounds_[std::size_t(id)]->values;
    for (std::size_t i = 0; i < errors.size(); ++i)
        if (std::isfinite(values[i]) && std::abs(values[i]) > kFar) errors[i] = kNoBound;
}

const Array& ErrorBounds::of_output(std::string_view name) {
    const int output = find_output(reference_.graph(), name);
    if (!output) throw UserError("the model has no output " + std::string(name));
    return of(output);
}

void ErrorBounds::set(const std::string& name, Array bound) {
    given_[name] = std::move(bound);
    forget();
}

Array ErrorBounds::evaluate(int id) {
    const Node& node = reference_.graph()[id];
    switch (node.op) {
        case Op::input:
        case Op::parameter: {
            const std::string name =
                node.op == Op::input ? std::string(node.name) : reference_.graph().path(node.scope);
            const auto given = given_.find(name);
            return given == given_.end() ? like(id) : given->second;
        }
        case Op::elementwise: return elementwise(id);
        case Op::einsum: return einsum(id);
        case Op::reduce: return reduce(id);
        case Op::scatter_add: return scatter_add(id);
        default: break;
    }
    const OpDef& def = op_def(node.op);
    if (def.copied) return moved(id);
    if (!def.reference) return body(id);
    if (node.inputs[0] <= 0) return of_numbers(id);
    throw InternalError("no bound is known of the error of " + std::string(row_of(node.op).name));
}

/// Of values that are made of nothing: whole numbers are exact, and so are floats that float32 has.
Array ErrorBounds::of_numbers(int id) {
    const Node& node = reference_.graph()[id];
    Array rounded = absolute(reference_.value(id));
    for (double& value : rounded.values) {
        const bool exact = double(float(value)) == value && !op_def(node.op).draws;
        value = exact || node.dtype == i32 ? 0 : unit_ * value;
    }
    return rounded;
}

Array ErrorBounds::elementwise(int id) {
    const Node& node = reference_.graph()[id];
    const ElementwiseRow& row = row_of(node.function);
    const Array& y = reference_.value(id);
    Array result = like(id);
    std::array<std::vector<std::int64_t>, 3> strides;
    const double *values[3]{}, *errors[3]{};
    for (int i = 0; i < row.arity; ++i) {
        strides[std::size_t(i)] = broadcast_strides(operand_value(id, i), y.shape);
        values[i] = operand_value(id, i).values.data();
        errors[i] = operand_bound(id, i).values.data();
    }
    const DType compared = row.gives_boolean ? reference_.graph()[node.inputs[0]].dtype : f32;
    const bool to_half = node.function == Elementwise::identity && is_half(node.dtype);
    const bool is_near_one =
        node.function == Elementwise::tanh && is_sum(reference_.graph(), node.inputs[0]);
    const bool to_whole = node.dtype == i32 && row.function != Elementwise::where;
    std::size_t at = 0;
    for_each_index(y.shape, {strides[0], strides[1], strides[2]},
                   [&](std::int64_t a, std::int64_t b, std::int64_t c) {
                       const std::int64_t place[3] = {a, b, c};
                       Operands x;
                       bool exact = true;
                       for (int i = 0; i < row.arity; ++i) {
                           x.value[i] = values[i][place[i]];
                           x.error[i] = errors[i][place[i]];
                           if (is_half(compared)) round(format_of(compared), x, i);
                           exact = exact && x.error[i] == 0;
                       }
                       double& error = result.values[at];
                       const double value = y.values[at++];
                       if (to_half) error = moved_in(format_of(node.dtype), x.value[0], x.error[0]);
                       else if (!(exact && (to_whole || row.gives_boolean)))
                           error =
                               error_of(row, x, value, is_near_one ? 1 : std::abs(value), unit_);
                       // A whole part may be the next one. The rest keeps bounds apart that
                       // other numbers come into.
                       if (to_whole && !exact) error = std::ceil(error + 0x1p-20) + 0x1p-40 * error;
                       if (!counts_terms_ && error != 0 && (to_whole || jumps(node.function)))
                           error = kNoBound;
                   });
    return result;
}

void ErrorBounds::round_sums(Array& sums, int id, double terms, std::vector<const Array*> operands,
                             double more) const {
    Array counts = sums;
    counts.values.assign(counts.values.size(), terms);
    if (!counts_terms_) {
        std::vector<Array> there;
        there.reserve(operands.size());
        for (const Array*& operand : operands) {
            if (reference_.graph()[reference_.graph()[id].inputs[there.size()]].dtype == i32) {
                there.emplace_back();
                continue;  // ids
            }
            there.push_back(*operand);
            for (double& value : there.back().values) value = value != 0;
            operand = &there.back();
        }
        counts = apply(id, operands);
    }
    for (std::size_t i = 0; i < sums.values.size(); ++i)
        sums.values[i] *= (counts.values[i] + more) * unit_;
}

/// |â·b̂ - a·b| <= |a| e_b + e_a |b| + e_a e_b + (n + 2) u (|a| + e_a) (|b| + e_b).
Array ErrorBounds::einsum(int id) {
    const Array a = absolute(operand_value(id, 0)), b = absolute(operand_value(id, 1));
    const Array of_a = factor_bound(id, 0), of_b = factor_bound(id, 1);
    Array wide_a = a, wide_b = b;
    add_to(wide_a, of_a);
    add_to(wide_b, of_b);
    const EinsumAxes& axes =
        reference_.graph().einsums[std::size_t(reference_.graph()[id].attribute)];
    double terms = 1;
    for (int i = 0; i < axes.a.count; ++i)
        if (!axes.out.contains(axes.a.label[std::size_t(i)]))
            terms *= double(a.shape[std::size_t(i)]);
    Array result = like(id);
    if (!is_zero(of_b)) add_to(result, apply(id, {&wide_a, &of_b}));
    if (!is_zero(of_a)) add_to(result, apply(id, {&of_a, &b}));
    Array sums = apply(id, {&wide_a, &wide_b});
    round_sums(sums, id, terms, {&a, &b}, 2);
    add_to(result, sums);
    return result;
}

Array ErrorBounds::factor_bound(int id, int i) {
    Array result = operand_bound(id, i);
    const Graph& graph = reference_.graph();
    const int operand = graph[id].inputs[std::size_t(i)];
    const DType own = graph[operand].dtype;
    const Array& value = operand_value(id, i);
    if (multiplies_stored(graph, graph[id])) {
        const bool lies_in_halves = is_half(own) || reference_.format(operand);
        add_unit_rounding(graph, graph[id], i, value, lies_in_halves, result);
        return result;
    }
    const NumberFormat* format = is_half(own) ? &format_of(own) : factors_;
    if (!format) return result;
    for (std::size_t k = 0; k < result.values.size(); ++k) {
        double& error = result.values[k];
        const bool exact = error == 0 && format->nearest(value.values[k]) == value.values[k];
        if (!exact) error = with_rounding(*format, value.values[k], error);
    }
    return result;
}

/// A sum: its terms' errors, and a rounding for each addition. A maximum: the largest error.
Array ErrorBounds::reduce(int id) {
    Array result = apply(id, {&operand_bound(id, 0)});
    if (reference_.graph()[id].reduction == Reduction::max) {
        for (double& value : result.values) value = std::max(value, 0.0);
        return result;
    }
    const Array x = absolute(operand_value(id, 0));
    Array wide = x;
    add_to(wide, operand_bound(id, 0));
    const double terms = double(x.size()) / double(std::max<std::int64_t>(result.size(), 1));
    Array sums = apply(id, {&wide});
    round_sums(sums, id, terms, {&x});
    add_to(result, sums);
    return result;
}

Array ErrorBounds::moved(int id) {
    std::vector<const Array*> operands;
    const Inputs& inputs = reference_.graph()[id].inputs;
    const std::vector<IdOperand> rows = id_operands(reference_.graph(), id);
    for (std::size_t i = 0; i < inputs.size() && inputs[i] > 0; ++i) {
        const bool ids = !rows.empty() && rows[0].operand == int(i);
        operands.push_back(ids ? &operand_value(id, int(i)) : &operand_bound(id, int(i)));
    }
    return apply(id, operands);
}

Array ErrorBounds::scatter_add(int id) {
    const Array x = absolute(operand_value(id, 0));
    Array wide = x;
    add_to(wide, operand_bound(id, 0));
    const Array& ids = operand_value(id, 1);
    const bool has_table = reference_.graph()[id].inputs[2] > 0;
    Array table = like(id), table_bound = like(id);
    if (has_table) {
        table_bound = operand_bound(id, 2);
        table = absolute(operand_value(id, 2));
        add_to(table, table_bound);
    }
    const auto applied = [&](const Array& values, const Array& to) {
        return has_table ? apply(id, {&values, &ids, &to}) : apply(id, {&values, &ids});
    };
    Array result = applied(operand_bound(id, 0), table_bound);
    Array sums = applied(wide, table);
    round_sums(sums, id, double(ids.size()) + double(has_table), {&x, &ids});
    add_to(result, sums);
    return result;
}

Array ErrorBounds::body(int id) {
    Interpreter inner(reference_.body_of(id), reference_.options());
    inner.take_sizes(reference_.sizes());
    ErrorBounds bounds = of_part(inner);
    const Inputs& inputs = reference_.graph()[id].inputs;
    // Tiles of attention are rounded when they are read, for all that is done with them.
    const bool multiplies = reference_.graph()[id].op == Op::fused_attention;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i] <= 0) continue;
        const bool rounds = multiplies && is_float(reference_.graph()[inputs[i]].dtype);
        inner.set(std::to_string(i), reference_.value(inputs[i]));
        bounds.given_[std::to_string(i)] =
            rounds ? factor_bound(id, int(i)) : *bounds_[std::size_t(inputs[i])];
    }
    return bounds.of_output("result");
}

void ErrorBounds::scan(int id) {
    ScanRun values(reference_, id), errors(reference_, id);
    const auto bound_of = [&](int i) -> const Array& { return operand_bound(id, i); };
    const auto value_of = [&](int i) -> const Array& { return operand_value(id, i); };
    values.start(value_of);
    errors.start(bound_of);
    ErrorBounds bounds = of_part(values.step());
    values.run(value_of, [&](std::int64_t n) {
        bounds.forget();
        errors.give(n, bound_of, [&](const std::string& name, Array array) {
            bounds.given_[name] = std::move(array);
        });
        errors.take(n, [&](std::string_view name) { return bounds.of_output(name); });
    });
    for (int other = 1; other < int(reference_.graph().nodes.size()); ++other)
        if (is_same_scan(reference_.graph(), id, other) && !reference_.is_assumed(other))
            bounds_[std::size_t(other)] =
                errors.results()[std::size_t(reference_.graph()[other].axis)];
}

}  // namespace fovea
