// Gradients where an operand is NaN, infinite or equal to another are PyTorch's, in the reference,
// on every instruction set and on PTX.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tests/isas_here.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kMost = std::numeric_limits<double>::infinity();
constexpr std::int64_t kLines = 6;
using Numbers = std::vector<double>;

/// Two operands and a cotangent, [lines, width], or [lines] of a reduction.
struct Operands {
    std::int64_t width;
    Numbers a, b, dy;
};

/// What PyTorch gives for a and b (derivatives.yaml and FunctionsManual.cpp: maximum, minimum,
/// threshold_backward, where, scale_grad_by_count).
struct Selection {
    const char* name;
    bool reduces;
    Tensor (*make)(Tensor a, Tensor b);
    void (*gradient)(const Operands& x, Numbers& da, Numbers& db);
};

template <class Rule>
void for_each_number(const Operands& x, const Rule& rule) {
    for (std::size_t i = 0; i < x.a.size(); ++i) rule(i, x.a[i], x.b[i], x.dy[i]);
}

/// The gradient of the largest of each row, times `sign` before and after.
void largest_gradient(const Operands& x, double sign, Numbers& da) {
    const auto width = std::size_t(x.width);
    for (std::size_t row = 0; row < kLines; ++row) {
        const double* own = &x.a[row * width];
        double most = -kMost, ties = 0;
        for (std::size_t k = 0; k < width; ++k) {
            const double value = sign * own[k];
            if (value > most || std::isnan(value)) most = value;
            if (std::isnan(most)) break;
        }
        for (std::size_t k = 0; k < width; ++k) ties += sign * own[k] == most;
        for (std::size_t k = 0; k < width; ++k)
            da[row * width + k] = x.dy[row] / ties * (sign * own[k] == most);
    }
}

const Selection kSelections[] = {
    {"maximum", false, [](Tensor a, Tensor b) { return maximum(a, b); },
     [](const Operands& x, Numbers& da, Numbers& db) {
         for_each_number(x, [&](std::size_t i, double a, double b, double dy) {
             da[i] = a < b ? 0 : a == b ? dy / 2 : dy;
             db[i] = b < a ? 0 : a == b ? dy / 2 : dy;
         });
     }},
    {"minimum", false, [](Tensor a, Tensor b) { return minimum(a, b); },
     [](const Operands& x, Numbers& da, Numbers& db) {
         for_each_number(x, [&](std::size_t i, double a, double b, double dy) {
             da[i] = a > b ? 0 : a == b ? dy / 2 : dy;
             db[i] = b > a ? 0 : a == b ? dy / 2 : dy;
         });
     }},
    {"relu", false, [](Tensor a, Tensor) { return relu(a); },
     [](const Operands& x, Numbers& da, Numbers&) {
         for_each_number(
             x, [&](std::size_t i, double a, double, double dy) { da[i] = a <= 0 ? 0 : dy; });
     }},
    {"abs", false, [](Tensor a, Tensor) { return abs(a); },
     [](const Operands& x, Numbers& da, Numbers&) {
         for_each_number(x, [&](std::size_t i, double a, double, double dy) {
             da[i] = dy * (double(a > 0) - double(a < 0));
         });
     }},
    {"clamp", false, [](Tensor a, Tensor) { return clamp(a, -1, 1); },
     [](const Operands& x, Numbers& da, Numbers&) {
         for_each_number(x, [&](std::size_t i, double a, double, double dy) {
             da[i] = a >= -1 && a <= 1 ? dy : 0;
         });
     }},
    {"where", false, [](Tensor a, Tensor b) { return where(a > 0.0, a, b); },
     [](const Operands& x, Numbers& da, Numbers& db) {
         for_each_number(x, [&](std::size_t i, double a, double, double dy) {
             da[i] = a > 0 ? dy : 0;
             db[i] = a > 0 ? 0 : dy;
         });
     }},
    {"amax", true, [](Tensor a, Tensor) { return amax(a, -1); },
     [](const Operands& x, Numbers& da, Numbers&) { largest_gradient(x, 1, da); }},
    {"amin", true, [](Tensor a, Tensor) { return -amax(-a, -1); },
     [](const Operands& x, Numbers& da, Numbers&) { largest_gradient(x, -1, da); }},
};

Graph selection_model(const Selection& selection) {
    Graph graph;
    Scope s{&graph};
    const Tensor a = s.input("a", {kLines, "width"}), b = s.input("b", {kLines, "width"});
    s.output("y", selection.make(a, b));
    return graph;
}

/// Row 0 has NaN in a, 1 in b, 2 in both, 3 in neither but ties, 4 infinities, 5 NaN in dy.
Operands operands(const Selection& selection, std::int64_t width, std::int64_t at) {
    Operands x{width, {}, {}, {}};
    for (std::int64_t i = 0; i < kLines * width; ++i) {
        x.a.push_back(double(i * 7 % 5 - 2));
        x.b.push_back(double(i * 3 % 5 - 2));
    }
    const auto place = [&](std::int64_t row) { return std::size_t(row * width + at); };
    x.a[place(0)] = x.b[place(1)] = x.a[place(2)] = x.b[place(2)] = kNone;
    x.a[place(4)] = kMost, x.b[place(4)] = -kMost;
    for (std::int64_t i = 0; i < kLines * (selection.reduces ? 1 : width); ++i)
        x.dy.push_back(double(i % 3 + 1) / 2);
    x.dy[selection.reduces ? 5 : place(5)] = kNone;
    return x;
}

void check_same_numbers(const Numbers& expected, auto&& actual, const char* name) {
    CAPTURE(std::string(name));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(i);
        CHECK(std::isnan(double(actual[i])) == std::isnan(expected[i]));
        if (!std::isnan(expected[i])) CHECK(double(actual[i]) == doctest::Approx(expected[i]));
    }
}

void check_in_reference(const Selection& selection, const Operands& x, const Numbers& da,
                        const Numbers& db) {
    Interpreter reference(
        add_gradients(selection_model(selection), {.from_loss = false, .of_inputs = true}));
    const std::vector<std::int64_t> shape{kLines, x.width};
    reference.set("a", {shape, x.a});
    reference.set("b", {shape, x.b});
    reference.set("y.grad", {selection.reduces ? std::vector<std::int64_t>{kLines} : shape, x.dy});
    check_same_numbers(da, reference.output("a.grad").values, "a.grad");
    check_same_numbers(db, reference.output("b.grad").values, "b.grad");
}

void check_gradients_on(const runtime::Model& model, const Selection& selection, const Operands& x,
                        const Numbers& da, const Numbers& db) {
    runtime::Parameters parameters(model, {});
    runtime::Instance instance(model, selection.name, parameters);
    instance.bind({{"width", x.width}});
    std::copy(x.a.begin(), x.a.end(), instance.input<float>("a"));
    std::copy(x.b.begin(), x.b.end(), instance.input<float>("b"));
    std::copy(x.dy.begin(), x.dy.end(), instance.input<float>("y.grad"));
    instance.run();
    check_same_numbers(da, instance.output_values("a.grad"), "a.grad");
    check_same_numbers(db, instance.output_values("b.grad"), "b.grad");
}

/// `check(selection, operands, da, db)` for all of them.
template <class Check>
void for_each_selection(const Check& check) {
    for (const Selection& selection : kSelections)
        for (std::int64_t width : {1, 5, 16, 37})
            for (std::int64_t at : {std::int64_t(0), width / 2, width - 1}) {
                CAPTURE(std::string(selection.name));
                CAPTURE(width);
                CAPTURE(at);
                const Operands x = operands(selection, width, at);
                Numbers da(x.a.size(), 0), db(x.a.size(), 0);
                selection.gradient(x, da, db);
                check(selection, x, da, db);
            }
}

plan::Model plan_of_selections() {
    std::vector<ProgramRequest> requests;
    for (const Selection& selection : kSelections)
        requests.push_back({.name = selection.name,
                            .graph = selection_model(selection),
                            .training = false,
                            .gradients = Gradients::of_parameters_and_inputs});
    return compile_model("selections", "", {}, std::move(requests)).plan;
}

}  // namespace

TEST_CASE("gradients at NaN and at ties are PyTorch's in the reference") {
    for_each_selection(check_in_reference);
}

TEST_CASE("gradients at NaN and at ties are PyTorch's on every instruction set") {
    const plan::Model plan = plan_of_selections();
    for (const std::string& isa : test::isas_by_turns()) {
        CAPTURE(isa);
        const runtime::Model& model =
            tool::load_generated(plan, isa, tool::Keep::nowhere, tool::Optimized::as_shipped);
        for_each_selection(
            [&](const Selection& selection, const Operands& x, const Numbers& da,
                const Numbers& db) { check_gradients_on(model, selection, x, da, db); });
    }
}

TEST_CASE("gradients at NaN and at ties are PyTorch's on PTX") {
    if (emit::why_not_ptx()) return;
    const plan::Model plan = plan_of_selections();
    const auto model = tool::model_on({"ptx-interpreter", "sm_80"}, plan, f32);
    for_each_selection(
        [&](const Selection& selection, const Operands& x, const Numbers& da, const Numbers& db) {
            check_gradients_on(*model, selection, x, da, db);
        });
}
