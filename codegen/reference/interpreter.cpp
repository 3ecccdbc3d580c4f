// Evaluates a graph node by node with the ops' float64 semantics.
#include "codegen/reference/interpreter.h"

#include <algorithm>
#include <cmath>

#include "codegen/graph/expand_composites.h"
#include "codegen/graph/id_operands.h"
#include "codegen/graph/rewrite.h"
#include "codegen/graph/scan_function.h"
#include "codegen/reference/scan_run.h"
#include "codegen/reference/scatter_roundings.h"

namespace fovea {

namespace {

std::string text_of(std::span<const std::int64_t> shape) {
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

}  // namespace

Interpreter::Interpreter(const Graph& graph, InterpreterOptions options)
    : graph_(draw_ahead(expand_composites(with_checks(seal_scans(graph))))),
      options_(options),
      values_(graph_.nodes.size()) {
    for (int id = 1; id < int(graph_.nodes.size()); ++id)
        if (is_check(graph_[id])) checks_[graph_[id].inputs[0]].push_back(id);
}

void Interpreter::bind(std::string_view dim, std::int64_t size) { sizes_[Symbol(dim)] = size; }

std::string Interpreter::name_of_leaf(const Node& node) const {
    if (node.op == Op::parameter) return graph_.path(node.scope);
    return node.op == Op::input ? std::string(node.name) : std::string();
}

bool Interpreter::has(const std::string& name) const {
    for (const Node& node : graph_.nodes)
        if (!name.empty() && name_of_leaf(node) == name) return true;
    return false;
}

void Interpreter::bind_shape(const std::string& name, const Shape& shape, const Array& value) {
    if (value.size() != std::int64_t(value.values.size()))
        throw InternalError(name + ": the array does not have as many values as its shape says");
    std::vector<GivenShape> given = computed_;
    std::erase_if(given, [&](const GivenShape& known) { return known.name == name; });
    given.push_back({name, shape, value.shape});
    solve_sizes(given, sizes_);
    const bool is_computed = std::any_of(shape.begin(), shape.end(), [](const Dim& dim) {
        return !dim.is_static() && !dim.bare_symbol();
    });
    if (!is_computed) given.pop_back();
    computed_ = std::move(given);
}

void Interpreter::set(const std::string& name, Array value) {
    bool found = false;
    for (const Node& node : graph_.nodes) {
        if ((node.op != Op::parameter && node.op != Op::input) || name_of_leaf(node) != name)
            continue;
        bind_shape(name, node.shape, value);
        found = true;
    }
    if (!found) throw UserError("the model has no input or parameter " + name);
    given_[name] = std::move(value);
    forget();
}

std::vector<std::int64_t> Interpreter::shape_of(const Node& node) const {
    std::vector<std::int64_t> shape;
    for (const Dim& dim : node.shape) {
        shape.push_back(value_of(sizes_, dim));
        if (shape.back() >= 0) continue;
        Text text;
        text << node.location.file_name() << ":" << node.location.line
             << ": a size is negative: " << dim << " is " << shape.back();
        throw UserError(std::string(text.view()));
    }
    return shape;
}

const Array& Interpreter::value(int id) {
    std::vector<int> stack{id};
    while (!stack.empty()) {  // inputs first, without recursion
        int top = stack.back();
        std::size_t before = stack.size();
        if (!values_[std::size_t(top)])
            for (std::size_t i = kMaxInputs; i-- > 0;) {
                int input = graph_[top].inputs[i];
                if (input > 0 && !values_[std::size_t(input)]) stack.push_back(input);
            }
        if (stack.size() > before) continue;
        stack.pop_back();
        if (!values_[std::size_t(top)]) evaluate(top);
    }
    return *values_[std::size_t(id)];
}

void Interpreter::assume(const std::map<int, Array>& values) {
    assumed_.resize(graph_.nodes.size());
    for (const auto& [id, value] : values) {
        assumed_[std::size_t(id)] = true;
        values_[std::size_t(id)] = value;
    }
    for (std::size_t id = 0; id < values_.size(); ++id)
        if (!assumed_[id]) values_[id].reset();
}

void Interpreter::forget() {
    values_.assign(graph_.nodes.size(), {});
    assumed_.clear();
}

bool Interpreter::is_assumed(int id) const {
    return !assumed_.empty() && assumed_[std::size_t(id)];
}

const NumberFormat* Interpreter::format(int id) const {
    const bool rounds = !memory_.empty() && is_half(memory_[std::size_t(id)]);
    return rounds ? &format_of(memory_[std::size_t(id)]) : nullptr;
}

const NumberFormat* Interpreter::factors() const {
    if (is_half(factors_)) return &format_of(factors_);
    return options_.tf32 ? &kTf32Format : nullptr;
}

void Interpreter::round_to_memory(std::vector<DType> nodes, DType factors) {
    memory_ = std::move(nodes);
    factors_ = factors;
    forget();
}

void Interpreter::evaluate(int id) {
    const Node& node = graph_[id];
    if (node.op == Op::input || node.op == Op::parameter) {
        auto found = given_.find(name_of_leaf(node));
        if (found == given_.end())
            throw UserError(std::string(row_of(node.op).name) + " " + name_of_leaf(node) +
                            " has no value: give one");
        if (found->second.shape != shape_of(node))
            throw UserError(found->first + ": expected " + text_of(shape_of(node)) + ", got " +
                            text_of(found->second.shape));
        values_[std::size_t(id)] =
            format(id) ? rounded_to(*format(id), found->second) : found->second;
        check(id);
        return;
    }
    if (is_scan(graph_, id)) return evaluate_scan(id);
    Array result{shape_of(node), {}};
    result.values.assign(std::size_t(result.size()), 0);
    std::array<const Array*, kMaxInputs> inputs{};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (node.inputs[i] > 0) inputs[i] = &*values_[std::size_t(node.inputs[i])];
    std::array<Array, 2> rounded;
    const NumberFormat* rounding = nullptr;
    if (node.op == Op::einsum) {
        const DType own = graph_[node.inputs[0]].dtype;
        rounding = !memory_.empty() && is_half(own) ? &format_of(own) : factors();
        if (multiplies_stored(graph_, node)) rounding = nullptr;
    }
    if (node.op == Op::elementwise && row_of(node.function).gives_boolean) {
        const DType own = graph_[node.inputs[0]].dtype;
        if (is_half(own) || (is_float(own) && options_.compares_in_single))
            rounding = &format_of(own);
    }
    if (rounding)
        for (std::size_t i = 0; i < 2 && inputs[i]; ++i) {
            rounded[i] = rounded_to(*rounding, *inputs[i]);
            inputs[i] = &rounded[i];
        }
    if (op_def(node.op).draws && !options_.training) {
        result.values.assign(result.values.size(), 1);
    } else {
        const OpDef& def = op_def(node.op);
        if (def.reference)
            def.reference({graph_, id, inputs, result.shape, options_.seed, options_.step,
                           size_among, &sizes_, options_.training},
                          result);
        else if (def.expand) result = value_of_body(id);
        else throw InternalError("op " + std::string(row_of(node.op).name) + " has no reference");
    }
    if (options_.scatters_roundings && node.op == Op::elementwise)
        scatter_roundings(node, inputs, result);
    if (format(id)) result = rounded_to(*format(id), std::move(result));
    values_[std::size_t(id)] = std::move(result);
    check(id);
}

/// UserError when a value is not what an op needs that reads it.
void Interpreter::check(int id) const {
    const auto found = checks_.find(id);
    if (found == checks_.end() || !options_.checks_ids) return;
    const Array& array = *values_[std::size_t(id)];
    for (int output : found->second) {
        const Node& node = graph_[output];
        const std::int64_t limit = value_of(sizes_, node.dim);
        for (std::size_t i = 0; i < array.values.size(); ++i)
            if (!is_within(array.values[i], Holds(node.axis), limit))
                throw UserError(out_of_range_text(std::string(node.name), Holds(node.axis),
                                                  array.values[i], std::int64_t(i), array.shape,
                                                  limit));
    }
}

/// Gives all results of the scan their values.
void Interpreter::evaluate_scan(int id) {
    ScanRun run(*this, id);
    const auto input = [&](int i) -> const Array& {
        return *values_[std::size_t(graph_[id].inputs[std::size_t(i)])];
    };
    run.start(input);
    run.run(input);
    for (int other = 1; other < int(graph_.nodes.size()); ++other)
        if (is_same_scan(graph_, id, other) && !is_assumed(other))
            values_[std::size_t(other)] = run.results()[std::size_t(graph_[other].axis)];
}

Graph Interpreter::body_of(int id) const {
    Graph body;
    body.scopes = graph_.scopes;
    body.sites = graph_.sites;
    std::array<Tensor, kMaxInputs> inputs{};
    const Node& node = graph_[id];
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
        if (node.inputs[i] <= 0) continue;
        const Node& input = graph_[node.inputs[i]];
        inputs[i] = make(body, {.op = Op::input,
                                .dtype = input.dtype,
                                .shape = input.shape,
                                .name = intern(std::to_string(i))});
    }
    Tensor result = op_def(node.op).expand({graph_, id, body, inputs, nullptr, nullptr});
    make(body, {.op = Op::output,
                .dtype = node.dtype,
                .shape = node.shape,
                .inputs = inputs_of({result.id}),
                .name = "result"});
    return body;
}

/// The value of a node that is a kernel of its own.
Array Interpreter::value_of_body(int id) {
    InterpreterOptions options = options_;
    options.tf32 = false;
    Interpreter interpreter(body_of(id), options);
    interpreter.sizes_ = sizes_;
    for (std::size_t i = 0; i < kMaxInputs; ++i)
        if (const int input = graph_[id].inputs[i]; input > 0)
            interpreter.set(std::to_string(i), *values_[std::size_t(input)]);
    return interpreter.output("result");
}

const Array& Interpreter::output(std::string_view name) {
    for (int id = 1; id < int(graph_.nodes.size()); ++id)
        if (graph_[id].op == Op::output && graph_[id].name == name) return value(id);
    throw UserError("the model has no output " + std::string(name));
}

std::map<std::string, Array> Interpreter::outputs() {
    std::map<std::string, Array> result;
    for (int id = 1; id < int(graph_.nodes.size()); ++id)
        if (graph_[id].op == Op::output && !is_check(graph_[id]))
            result[std::string(graph_[id].name)] = value(id);
    return result;
}

}  // namespace fovea
