// softmax, its logarithm, the logarithm of the sum and cross entropy of rows with infinities, NaN
// and numbers as large as float32 has: values and gradients are PyTorch's, in the reference and on
// every instruction set.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tests/isas_here.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t kClasses = 4;
using Row = std::array<double, kClasses>;

constexpr Row kAllNone = {kNoNumber, kNoNumber, kNoNumber, kNoNumber};

/// What torch 2.13 gives. The label of a row is 1, and the cotangent of its classes 1, 2, 0, 1.
struct Case {
    Row x, softmax, log_softmax;
    double logsumexp, cross_entropy;
};
const Case kCases[] = {
    {{1, kInfinite, 2, 3}, kAllNone, kAllNone, kInfinite, kNoNumber},
    {{kInfinite, kInfinite, 0, 1}, kAllNone, kAllNone, kInfinite, kNoNumber},
    {{kInfinite, -kInfinite, 0, 1}, kAllNone, kAllNone, kInfinite, kNoNumber},
    {{-kInfinite, -kInfinite, -kInfinite, -kInfinite}, kAllNone, kAllNone, -kInfinite, kNoNumber},
    {{1, 2, 3, kInfinite}, kAllNone, kAllNone, kInfinite, kNoNumber},
    {{kNoNumber, 1, 2, 3}, kAllNone, kAllNone, kNoNumber, kNoNumber},
    {{kInfinite, kNoNumber, 0, 1}, kAllNone, kAllNone, kNoNumber, kNoNumber},
    {{-kInfinite, 1, 2, 3},
     {0, 0.0900306, 0.2447285, 0.6652410},
     {-kInfinite, -2.4076059, -1.4076059, -0.4076059},
     3.4076059,
     2.4076059},
    {{1e6, 1e6 + 1, 1e6, 1e6},
     {0.1748777, 0.4753668, 0.1748777, 0.1748777},
     {-1.7436684, -0.7436684, -1.7436684, -1.7436684},
     1000001.75,
     0.7436684},
};

Graph rows_model() {
    Graph graph;
    Scope s{&graph};
    const auto x = [&](const char* name) { return s.input(name, {"rows", kClasses}); };
    s.output("softmax", softmax(x("x_softmax"), -1));
    s.output("log_softmax", log_softmax(x("x_log_softmax"), -1));
    s.output("logsumexp", logsumexp(x("x_logsumexp"), -1));
    const Tensor labels = s.input("labels", {"rows"}, i32);
    s.output("cross_entropy", cross_entropy(x("x_cross_entropy"), labels, {.mean = false}));
    return graph;
}

/// `write(input, shape, values)` for all inputs of the gradient.
void for_each_tensor(const auto& write) {
    constexpr std::int64_t rows = std::size(kCases);
    std::vector<double> x, dy;
    for (const Case& one : kCases) {
        x.insert(x.end(), one.x.begin(), one.x.end());
        dy.insert(dy.end(), {1, 2, 0, 1});
    }
    const std::vector<double> ones(rows, 1);
    for (const char* name : {"x_softmax", "x_log_softmax", "x_logsumexp", "x_cross_entropy"})
        write(name, {rows, kClasses}, x);
    for (const char* name : {"softmax.grad", "log_softmax.grad"}) write(name, {rows, kClasses}, dy);
    for (const char* name : {"logsumexp.grad", "cross_entropy.grad"}) write(name, {rows}, ones);
    write("labels", {rows}, ones);
}

bool is_of_torch(double value, double expected) {
    if (std::isnan(expected)) return std::isnan(value);
    if (std::isinf(expected)) return value == expected;
    return std::fabs(value - expected) <= 1e-6 + 3e-6 * std::fabs(expected);
}

/// The gradient of a row that has values, by its softmax; NaN of a row of NaN.
Row gradient_of(const Case& one, bool of_logarithm) {
    const Row dy = {1, 2, 0, 1}, &p = one.softmax;
    double sum = 0;
    for (std::size_t k = 0; k < p.size(); ++k) sum += dy[k] * (of_logarithm ? 1 : p[k]);
    Row result{};
    for (std::size_t k = 0; k < p.size(); ++k)
        result[k] = of_logarithm ? dy[k] - p[k] * sum : p[k] * (dy[k] - sum);
    return result;
}

/// `value_of(output, i)` of all outputs.
void check_rows(const auto& value_of) {
    for (std::size_t row = 0; row < std::size(kCases); ++row) {
        const Case& one = kCases[row];
        CAPTURE(row);
        CHECK(is_of_torch(value_of("logsumexp", row), one.logsumexp));
        CHECK(is_of_torch(value_of("cross_entropy", row), one.cross_entropy));
        const Row plain = gradient_of(one, false), of_logarithm = gradient_of(one, true);
        for (std::size_t k = 0; k < one.x.size(); ++k) {
            CAPTURE(k);
            const std::size_t i = row * kClasses + k;
            CHECK(is_of_torch(value_of("softmax", i), one.softmax[k]));
            CHECK(is_of_torch(value_of("log_softmax", i), one.log_softmax[k]));
            CHECK(is_of_torch(value_of("x_softmax.grad", i), plain[k]));
            CHECK(is_of_torch(value_of("x_log_softmax.grad", i), of_logarithm[k]));
        }
    }
}

}  // namespace

TEST_CASE("rows with infinities are PyTorch's in the reference") {
    Interpreter reference(add_gradients(rows_model(), {.from_loss = false, .of_inputs = true}));
    for_each_tensor(
        [&](const char* name, std::vector<std::int64_t> shape, const std::vector<double>& values) {
            reference.set(name, {std::move(shape), values});
        });
    const std::map<std::string, Array> outputs = reference.outputs();
    check_rows([&](const char* name, std::size_t i) { return outputs.at(name).values[i]; });
}

TEST_CASE("rows with infinities are PyTorch's on every instruction set") {
    ProgramRequest request{.name = "rows",
                           .graph = rows_model(),
                           .training = false,
                           .gradients = Gradients::of_parameters_and_inputs};
    const plan::Model plan = compile_model("rows", "", {}, {request}).plan;
    for (const std::string& isa : test::isas_by_turns()) {
        CAPTURE(isa);
        const runtime::Model& generated =
            tool::load_generated(plan, isa, tool::Keep::nowhere, tool::Optimized::as_shipped);
        runtime::Parameters parameters(generated, {});
        runtime::Instance instance(generated, "rows", parameters);
        instance.bind({{"rows", std::int64_t(std::size(kCases))}});
        for_each_tensor([&](const std::string& name, const std::vector<std::int64_t>&,
                            const std::vector<double>& values) {
            if (name == "labels") std::ranges::copy(values, instance.input<std::int32_t>(name));
            else std::ranges::copy(values, instance.input<float>(name));
        });
        instance.run();
        check_rows([&](const char* name, std::size_t i) {
            return double(instance.output_values(name)[i]);
        });
    }
}
