#include "tools/fovea/verify/finite_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "codegen/graph/op_def.h"
#include "codegen/graph/rewrite.h"
#include "codegen/optimize/guard_ids.h"
#include "codegen/reference/error_bounds.h"
#include "tools/fovea/verify/verify_kernels.h"

namespace fovea::tool {

namespace {

constexpr std::string_view kGradientSuffix = ".grad";
constexpr double kRounding = 0x1p-53;  // of float64

std::string stopped_name(int node) { return fmt::format("stopped {}", node); }

/// Whether a function gives steps, which may be so short and many that they look like a slope.
bool gives_steps(Elementwise function) {
    switch (function) {
        case Elementwise::sign:
        case Elementwise::floor:
        case Elementwise::ceil:
        case Elementwise::round: return true;
        default: return false;
    }
}

/// Whether a node's value stays as it is while the objective moves.
bool is_stopped(const Graph& graph, int id) {
    const Node& node = graph[id];
    if (node.op != Op::elementwise) return node.op == Op::stop_gradient && !has_own_gradient(node);
    if (!is_float(graph[node.inputs[0]].dtype)) return false;
    return node.function == Elementwise::identity ? node.dtype == i32 : gives_steps(node.function);
}

/// The graph without rounding to 16 bits, which gives steps; its gradients are the same.
Graph in_float32(Graph graph) {
    for (Node& node : graph.nodes) node.dtype = widened(node.dtype);
    return graph;
}

/// What stopped nodes give.
Values values_of_stopped(const Graph& graph, const SampleDims& dims, const Values& values,
                         const InterpreterOptions& options) {
    Graph observed = graph;
    std::vector<std::string> names;
    for (int id = 1; id < int(graph.nodes.size()); ++id) {
        if (!is_stopped(graph, id) || graph[id].region != 0) continue;
        names.push_back(stopped_name(id));
        make(observed, {.op = Op::output,
                        .dtype = graph[id].dtype,
                        .shape = graph[id].shape,
                        .inputs = inputs_of({id}),
                        .name = intern(names.back())});
    }
    Interpreter interpreter(observed, options);
    set_all(interpreter, dims, values);
    Values stopped;
    for (const std::string& name : names) stopped[name] = interpreter.output(name);
    return stopped;
}

/// The graph with inputs in their place.
Graph with_stopped_as_inputs(const Graph& graph) {
    return Rewrite::run(graph, [&](Rewrite& rewrite, int id) -> std::optional<Tensor> {
        const Node& node = graph[id];
        if (!is_stopped(graph, id)) return std::nullopt;
        return make(rewrite.target(), {.op = Op::input,
                                       .dtype = node.dtype,
                                       .shape = node.shape,
                                       .name = intern(stopped_name(id))});
    });
}

std::vector<double> draw_direction(std::size_t size) {
    std::uint64_t state = 88172645463325252u;
    std::vector<double> direction(size);
    for (double& value : direction) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        value = state >> 63 ? 1 : -1;
    }
    return direction;
}

}  // namespace

struct FiniteDifferences::State {
    State(const CompiledProgram& program, const SampleDims& dims, const Values& given,
          const InterpreterOptions& options)
        : values(given),
          source(in_float32(guard_ids(program.graph))),
          gradients(in_float32(program.gradient), options),
          plain(with_stopped_as_inputs(source), options) {
        set_all(gradients, dims, values);
        set_all(plain, dims, values);
        for (const auto& [name, value] : values_of_stopped(source, dims, values, options))
            plain.set(name, value);
        for (const Node& node : program.gradient.nodes) {
            if (node.op != Op::output) continue;
            const std::string_view name = node.name;
            if (!name.ends_with(kGradientSuffix)) outputs.emplace_back(name);
            else names.emplace_back(name.substr(0, name.size() - kGradientSuffix.size()));
        }
        has_loss = std::find(outputs.begin(), outputs.end(), "loss") != outputs.end();
    }

    /// Calls visit(output, i, weight) for each element that the objective is a sum of.
    template <class Visit>
    void each_term(const Visit& visit) {
        for (const std::string& output : outputs) {
            const auto cotangent = values.find(output + std::string(kGradientSuffix));
            if (has_loss ? output != "loss" : cotangent == values.end()) continue;
            for (std::size_t i = 0; i < plain.output(output).values.size(); ++i)
                visit(output, i, has_loss ? 1 : cotangent->second.values[i]);
        }
    }
    /// What the objective is the sum of.
    std::vector<double> terms() {
        std::vector<double> all;
        each_term([&](const std::string& output, std::size_t i, double weight) {
            all.push_back(weight * plain.output(output).values[i]);
        });
        return all;
    }
    /// The gradient's sum along the direction.
    double along_direction(const std::string& name) {
        const Array& gradient = gradients.output(name + std::string(kGradientSuffix));
        const std::vector<double> direction = draw_direction(gradient.values.size());
        return std::inner_product(direction.begin(), direction.end(), gradient.values.begin(), 0.);
    }
    /// What `f` gives at x + h d and at x - h d.
    template <class F>
    auto both_sides(Interpreter& graph, const std::string& name, double h, const F& f) {
        const Array& x = values.at(name);
        const std::vector<double> direction = draw_direction(x.values.size());
        std::array<decltype(f()), 2> result{};
        for (std::size_t side = 0; side < 2; ++side) {
            Array moved = x;
            for (std::size_t i = 0; i < moved.values.size(); ++i)
                moved.values[i] += (side ? -h : h) * direction[i];
            graph.set(name, std::move(moved));
            result[side] = f();
        }
        graph.set(name, x);
        return result;
    }
    /// Those at x + h d and at x - h d.
    std::array<std::vector<double>, 2> terms_beside(const std::string& name, double h) {
        return both_sides(plain, name, h, [&] { return terms(); });
    }
    double objective_error() {
        ErrorBounds bounds(plain, kRounding);
        std::map<std::string, Array> of_outputs;
        for (const std::string& output : outputs) of_outputs[output] = bounds.of_output(output);
        double sum = 0;
        each_term([&](const std::string& output, std::size_t i, double weight) {
            // And its product with the weight is rounded.
            sum += std::abs(weight) * (of_outputs[output].values[i] +
                                       2 * kRounding * std::abs(plain.output(output).values[i]));
        });
        return sum;
    }

    const Values values;
    const Graph source;
    Interpreter gradients, plain;
    std::vector<std::string> outputs, names;
    bool has_loss = false;
};

FiniteDifferences::FiniteDifferences(const CompiledProgram& program, const SampleDims& dims,
                                     const Values& values, const InterpreterOptions& options)
    : state_(std::make_unique<State>(program, dims, values, options)) {}

FiniteDifferences::~FiniteDifferences() = default;

const std::vector<std::string>& FiniteDifferences::names() const { return state_->names; }

double FiniteDifferences::gradient(const std::string& name) {
    return state_->along_direction(name);
}

double FiniteDifferences::change_of_gradient(const std::string& name, double h) {
    const double here = state_->along_direction(name);
    const auto [after, before] = state_->both_sides(state_->gradients, name, h,
                                                    [&] { return state_->along_direction(name); });
    return std::max(std::abs(after - here), std::abs(before - here));
}

// Terms are subtracted one by one: their sum is larger than what it changes by, and rounded.

double FiniteDifferences::slope(const std::string& name, double h) {
    const auto [after, before] = state_->terms_beside(name, h);
    double sum = 0;
    for (std::size_t i = 0; i < after.size(); ++i) sum += after[i] - before[i];
    return sum / (2 * h);
}

double FiniteDifferences::bend(const std::string& name, double h) {
    const std::vector<double> here = state_->terms();
    const auto [after, before] = state_->terms_beside(name, h);
    double sum = 0;
    for (std::size_t i = 0; i < after.size(); ++i)
        sum += (after[i] - here[i]) - (here[i] - before[i]);
    return sum / h;
}

double FiniteDifferences::gradient_error(const std::string& name) {
    ErrorBounds bounds(state_->gradients, kRounding);
    const Array& bound = bounds.of_output(name + std::string(kGradientSuffix));
    return std::accumulate(bound.values.begin(), bound.values.end(), 0.);
}

double FiniteDifferences::slope_error(double h) { return state_->objective_error() / h; }

double FiniteDifferences::largest_gradient() {
    return tool::largest_gradient(state_->gradients.graph(), state_->gradients);
}

}  // namespace fovea::tool
