// Casts, quotients and comparisons of i32, and slices of sizes that do not fit, in the reference,
// on the CPU and on PTX.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fovea.h>

#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/error.h"
#include "runtime/session.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

const std::vector<double> kFloats = {2.7,
                                     -2.7,
                                     0.5,
                                     -0.5,
                                     0,
                                     1e9,
                                     -1e9,
                                     3e9,
                                     -3e9,
                                     2147483520.0,
                                     -2147483648.0,
                                     1e38,
                                     -1e38,
                                     std::numeric_limits<double>::quiet_NaN(),
                                     std::numeric_limits<double>::infinity()};
const std::vector<double> kWhole = {7,  -7, 1,  -1, 0,  2147483647, -2147483648.0, 16777217, 5,
                                    -5, 3,  -3, 2,  -2, 100};

Graph graph_of_integers() {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {"n"}), a = s.input("a", {"n"}, i32);
    const Tensor b = s.input("b", {"n"}, i32);
    s.output("whole", cast(x, i32));
    s.output("there and back", cast(cast(x, i32), f32));
    s.output("half", a / 2);
    s.output("quotient", a / b);
    s.output("fraction", cast(a, f32) / (cast(b / 2, f32) + 0.5));
    s.output("compared", cast(a > 3, i32) + cast(x > 0.0, i32));
    s.output("chosen", where(a < b, a, b) / 2 + minimum(maximum(a, -3), 3) * 2);
    return graph;
}

Graph graph_of_positions() {
    Graph graph;
    Scope s{&graph};
    const Tensor x = s.input("x", {"n", 4});
    s.output("y", x + slice(s.input("table", {10, 4}), 0, 0, x.dim(0)));
    s.output("largest", topk<3>(x, 0).values);
    return graph;
}

plan::Model plan_of(const Graph& graph) {
    return compile_model("integers", "", {},
                         {{.name = "forward",
                           .graph = graph,
                           .training = false,
                           .gradients = Gradients::none}})
        .plan;
}

bool is_float(const std::string& name) { return name == "there and back" || name == "fraction"; }

std::vector<double> output_of(runtime::Instance& instance, const std::string& name,
                              std::size_t count) {
    if (is_float(name)) {
        const float* values = instance.output<float>(name);
        return {values, values + count};
    }
    const auto* values = instance.output<std::int32_t>(name);
    return {values, values + count};
}

void check_integers_on(const std::string& target) {
    CAPTURE(target);
    const Graph graph = graph_of_integers();
    const auto model = tool::model_on({target, "sm_80"}, plan_of(graph), f32);
    runtime::Parameters parameters(*model, {});
    runtime::Instance instance(*model, "forward", parameters);
    const std::size_t count = kFloats.size();
    instance.bind({{"n", std::int64_t(count)}});
    std::vector<double> divisors = kWhole;
    std::rotate(divisors.begin(), divisors.begin() + 5, divisors.end());
    Interpreter reference(graph);
    const std::vector<std::int64_t> shape{std::int64_t(count)};
    reference.set("x", {shape, kFloats});
    reference.set("a", {shape, kWhole});
    reference.set("b", {shape, divisors});
    std::copy(kFloats.begin(), kFloats.end(), instance.input<float>("x"));
    std::copy(kWhole.begin(), kWhole.end(), instance.input<std::int32_t>("a"));
    std::copy(divisors.begin(), divisors.end(), instance.input<std::int32_t>("b"));
    instance.run();
    for (const auto& [name, expected] : reference.outputs()) {
        CAPTURE(name);
        const std::vector<double> actual = output_of(instance, name, count);
        for (std::size_t i = 0; i < count; ++i) {
            CAPTURE(i);
            const double value = expected.values[i];
            if (name == "fraction") CHECK(actual[i] == doctest::Approx(value).epsilon(1e-6));
            else CHECK(actual[i] == (is_float(name) ? double(float(value)) : value));
        }
    }
}

void check_positions_on(const std::string& target) {
    CAPTURE(target);
    const auto model = tool::model_on({target, "sm_80"}, plan_of(graph_of_positions()), f32);
    runtime::Parameters parameters(*model, {});
    runtime::Instance instance(*model, "forward", parameters);
    instance.bind({{"n", 10}});
    CHECK_NOTHROW(instance.run());
    instance.bind({{"n", 11}});
    CHECK_THROWS_WITH_AS(instance.run(),
                         "integers_test.cpp:60: a slice of 11 from 0 does not lie within the 10 "
                         "elements of its axis",
                         runtime::UserError);
    instance.bind({{"n", 2}});
    CHECK_THROWS_WITH_AS(instance.run(),
                         "integers_test.cpp:61: a slice of 3 from 0 does not lie within the 2 "
                         "elements of its axis",
                         runtime::UserError);
}

}  // namespace

TEST_CASE("integers are whole, and what they cannot hold is the smallest of them") {
    check_integers_on("cpu");
    if (!emit::why_not_ptx()) check_integers_on("ptx-interpreter");
}

TEST_CASE("a slice that does not fit its axis is refused before the run") {
    check_positions_on("cpu");
    if (!emit::why_not_ptx()) check_positions_on("ptx-interpreter");
}
