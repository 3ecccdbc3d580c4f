// Every elementwise function, and every function that is made of them, at numbers as far from 0 as
// float32 goes: value and gradient are those of the float64 reference, finite where these are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/graph/intern.h"
#include "codegen/ops/ternary.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tests/isas_here.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr double kExtremes[] = {1e13, -1e13, 1e20, -1e20, 1e30, -1e30, 3e38, -3e38};
constexpr double kOthers[] = {1, -2, 0.5, 3};

/// What kernels alone call, and what has no value or no operand of floats.
const std::set<Elementwise> kNotHere = {Elementwise::exp_exponent, Elementwise::exp_significand,
                                        Elementwise::tanh_of_exp,  Elementwise::sigmoid_of_exp,
                                        Elementwise::logical_not,  Elementwise::logical_and,
                                        Elementwise::logical_or,   Elementwise::lt,
                                        Elementwise::le,           Elementwise::eq};

struct ExtremeFunction {
    std::string name;
    int arity;
    std::function<Tensor(Tensor, Tensor, Tensor)> make;
};

std::vector<ExtremeFunction> elementwise_functions() {
    std::vector<ExtremeFunction> all;
    for (const ElementwiseRow& row : kElementwise) {
        if (kNotHere.count(row.function)) continue;
        const Elementwise f = row.function;
        const auto make = [f, arity = row.arity](Tensor a, Tensor b, Tensor c) {
            if (f == Elementwise::where) return where(a < b, b, c);
            if (f == Elementwise::identity) return cast(a, f32);
            return arity == 1   ? unary(f, a)
                   : arity == 2 ? binary(f, a, b)
                                : detail::ternary(f, a, b, c);
        };
        all.push_back({std::string(row.name), row.arity, make});
    }
    return all;
}

const ExtremeFunction kComposed[] = {
    {"gelu", 1, [](Tensor x, Tensor, Tensor) { return gelu(x); }},
    {"gelu_tanh", 1, [](Tensor x, Tensor, Tensor) { return gelu_tanh(x); }},
    {"silu", 1, [](Tensor x, Tensor, Tensor) { return silu(x); }},
    {"softplus", 1, [](Tensor x, Tensor, Tensor) { return softplus(x); }},
    {"log_sigmoid", 1, [](Tensor x, Tensor, Tensor) { return log_sigmoid(x); }},
    {"mish", 1, [](Tensor x, Tensor, Tensor) { return mish(x); }},
    {"leaky_relu", 1, [](Tensor x, Tensor, Tensor) { return leaky_relu(x); }},
    {"elu", 1, [](Tensor x, Tensor, Tensor) { return elu(x); }},
    {"relu6", 1, [](Tensor x, Tensor, Tensor) { return relu6(x); }},
    {"clamp", 1, [](Tensor x, Tensor, Tensor) { return clamp(x, -1, 1); }},
    {"trunc", 1, [](Tensor x, Tensor, Tensor) { return trunc(x); }},
    {"square", 1, [](Tensor x, Tensor, Tensor) { return square(x); }},
    {"reciprocal", 1, [](Tensor x, Tensor, Tensor) { return reciprocal(x); }},
    {"tan", 1, [](Tensor x, Tensor, Tensor) { return tan(x); }},
    {"atan", 1, [](Tensor x, Tensor, Tensor) { return atan(x); }},
};

std::vector<ExtremeFunction> extreme_functions() {
    std::vector<ExtremeFunction> all = elementwise_functions();
    all.insert(all.end(), std::begin(kComposed), std::end(kComposed));
    return all;
}

std::string operand_name(const ExtremeFunction& function, int i) {
    return std::string(1, char('a' + i)) + "_" + function.name;
}

/// Each function of operands of its own.
Graph extremes_model(const std::vector<ExtremeFunction>& all) {
    Graph graph;
    Scope s{&graph};
    for (const ExtremeFunction& function : all) {
        Tensor operands[3];
        for (int i = 0; i < function.arity; ++i)
            operands[i] = s.input(intern(operand_name(function, i)), {"count"});
        s.output(intern("y_" + function.name),
                 function.make(operands[0], operands[1], operands[2]));
    }
    return graph;
}

/// Of all functions.
std::vector<std::array<double, 3>> all_operands() {
    std::vector<double> numbers(std::begin(kExtremes), std::end(kExtremes));
    numbers.insert(numbers.end(), std::begin(kOthers), std::end(kOthers));
    std::vector<std::array<double, 3>> all;
    for (double a : numbers)
        for (double b : numbers) all.push_back({double(float(a)), double(float(b)), -1});
    return all;
}

/// Exponents of two are small and whole: the powers are then exact.
double operand_of(const ExtremeFunction& function, int i, const std::array<double, 3>& row) {
    const bool is_exponent = i > 0 && function.name.ends_with("_scaled");
    const double value = row[std::size_t(i)];
    return is_exponent ? std::round(std::clamp(value, -3.0, 3.0)) : value;
}

/// `write(input, values)` for all inputs of the gradient.
void for_each_input(const std::vector<ExtremeFunction>& all, const auto& write) {
    const auto operands = all_operands();
    for (const ExtremeFunction& function : all) {
        for (int i = 0; i < function.arity; ++i) {
            std::vector<double> values;
            for (const auto& row : operands) values.push_back(operand_of(function, i, row));
            write(operand_name(function, i), values);
        }
        write("y_" + function.name + ".grad", std::vector<double>(operands.size(), 1));
    }
}

using Outputs = std::map<std::string, Array>;

Outputs reference_outputs(const std::vector<ExtremeFunction>& all) {
    Interpreter reference(
        add_gradients(extremes_model(all), {.from_loss = false, .of_inputs = true}));
    for_each_input(all, [&](const std::string& input, const std::vector<double>& values) {
        reference.set(input, {{std::int64_t(values.size())}, values});
    });
    Outputs outputs;
    for (const auto& [name, values] : reference.outputs()) outputs.emplace(name, values);
    return outputs;
}

/// Whether `value` is right: near what float32 has a number near to, infinite beyond those.
bool is_near(double value, double expected) {
    if (std::isnan(expected)) return std::isnan(value);
    if (std::fabs(expected) > double(std::numeric_limits<float>::max()))
        return std::isinf(value) && (value > 0) == (expected > 0);
    return std::fabs(value - expected) <= 1e-4 * std::fabs(expected) + 1e-37;
}

/// Of a^b where float32 does not have b - 1.
bool is_beyond_digits(const std::string& output, double b) {
    return output == "a_pow.grad" && std::fabs(b) > 0x1p24;
}

void check_extreme_output(const std::string& name, const Array& expected,
                          std::span<const float> actual) {
    const auto operands = all_operands();
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const double value = double(actual[i]), right = expected.values[i];
        const bool is_right = is_beyond_digits(name, operands[i][1])
                                  ? std::isnan(value) == std::isnan(right)
                                  : is_near(value, right);
        CHECK_MESSAGE(is_right, name, " at ", operands[i][0], ", ", operands[i][1], ": ", value,
                      " is not ", right);
    }
}

void check_extremes(const runtime::Model& model, const std::vector<ExtremeFunction>& all,
                    const Outputs& expected) {
    runtime::Parameters parameters(model, {});
    runtime::Instance instance(model, "extremes", parameters);
    instance.bind({{"count", std::int64_t(all_operands().size())}});
    for_each_input(all, [&](const std::string& input, const std::vector<double>& values) {
        std::ranges::copy(values, instance.input<float>(input));
    });
    instance.run();
    for (const auto& [name, values] : expected)
        check_extreme_output(name, values, instance.output_values(name));
}

plan::Model plan_of_extremes(const std::vector<ExtremeFunction>& all) {
    ProgramRequest request{.name = "extremes",
                           .graph = extremes_model(all),
                           .training = false,
                           .gradients = Gradients::of_parameters_and_inputs};
    return compile_model("extremes", "", {}, {request}).plan;
}

}  // namespace

TEST_CASE("a gradient is a number wherever the value is, in the reference") {
    const std::vector<ExtremeFunction> all = extreme_functions();
    const Outputs outputs = reference_outputs(all);
    for (const ExtremeFunction& function : all)
        for (int i = 0; i < function.arity; ++i) {
            const auto gradient = outputs.find(operand_name(function, i) + ".grad");
            if (gradient == outputs.end()) continue;
            const Array& value = outputs.at("y_" + function.name);
            for (std::size_t k = 0; k < value.values.size(); ++k)
                if (std::isfinite(value.values[k]))
                    CHECK_MESSAGE(!std::isnan(gradient->second.values[k]), gradient->first);
        }
}

TEST_CASE("values and gradients at extreme numbers are right on every instruction set") {
    const std::vector<ExtremeFunction> all = extreme_functions();
    const Outputs expected = reference_outputs(all);
    const plan::Model plan = plan_of_extremes(all);
    for (const std::string& isa : test::isas_by_turns()) {
        CAPTURE(isa);
        check_extremes(
            tool::load_generated(plan, isa, tool::Keep::nowhere, tool::Optimized::as_shipped), all,
            expected);
    }
}
