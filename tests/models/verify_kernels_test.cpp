// What the checks of `fovea verify` see, and what they let pass.
#include "tools/fovea/verify/verify_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "dsl/fovea.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

struct Verified {
    CompiledModel compiled;
    std::shared_ptr<const runtime::Model> generated;
};

const Sample kSample{{{"batch", 2}, {"len", 5}}, Sample::Lengths::any, 3};

Verified norm_of_rows() {
    const LoadedModel model = load_model("add_norm", {{"hidden", "24"}});
    Verified result{compile(model, {runner_program(model, true, false, true)}), nullptr};
    result.generated = model_on({"cpu", ""}, result.compiled.plan, model.dtype, Optimized::little);
    return result;
}

std::vector<std::string> missed(const std::vector<VerifyRow>& rows) {
    std::vector<std::string> names;
    for (const VerifyRow& row : rows)
        if (!row.ok) names.push_back(row.kernel);
    return names;
}

/// Another eps than the kernels have, whose difference shows in the last third of the digits.
void change_eps(Graph& graph) {
    for (Node& node : graph.nodes)
        if (std::abs(node.value - 1e-5) < 1e-9) node.value = 1.5e-4;
}

}  // namespace

TEST_CASE("kernels pass within the bound of their rounding, and nothing else does") {
    const Verified verified = norm_of_rows();
    CompiledProgram program = verified.compiled.programs[0];
    const auto rows = [&] {
        return verify_kernels(verified.compiled.plan, program, *verified.generated, kSample, false);
    };
    CHECK(missed(rows()).empty());
    change_eps(program.optimized);
    const std::vector<VerifyRow> changed = rows();
    CHECK(!missed(changed).empty());
    CHECK(changed[0].value_error.value_or(1) < 2e-4);
}

TEST_CASE(
    "an optimized graph passes that gives what the model's own gives, each output by itself") {
    CompiledProgram program = norm_of_rows().compiled.programs[0];
    const std::vector<VerifyRow> rows = verify_optimized("add_norm", program, kSample, false);
    CHECK(missed(rows).empty());
    CHECK(rows.size() ==
          std::size_t(std::count_if(program.gradient.nodes.begin(), program.gradient.nodes.end(),
                                    [](const Node& node) { return node.op == Op::output; })));
    change_eps(program.optimized);
    CHECK(!missed(verify_optimized("add_norm", program, kSample, false)).empty());
}

TEST_CASE("rows that see no key are right where they are zero") {
    LoadedModel model;
    Scope s{&model.graph};
    const Tensor x = s.input("x", {"batch", "len", 8});
    const Mask mask = padding(s.input("lens", {"batch"}, i32)).with(MaskedRows::zero);
    s.output("y", attention(x, x, x, dot_product, mask));
    model.entry.name = "unseen";
    const CompiledModel compiled =
        compile(model, {runner_program(model, true, false, {true, AttentionForm::fused})});
    const auto generated = model_on({"cpu", ""}, compiled.plan, model.dtype, Optimized::little);
    Sample sample = kSample;
    sample.lengths = Sample::Lengths::one_is_zero;
    const auto rows =
        verify_kernels(compiled.plan, compiled.programs[0], *generated, sample, false);
    CHECK(missed(rows).empty());
}

/// Weights of softmax that one kernel makes of values that it stores rounded beside them; a kernel
/// behind a product reads the weights.
void weights_beside(Scope s, std::string_view stored_as) {
    const Tensor x = s.input("x", {"batch", "len", 16}), t = tanh(x * 1.01);
    const Tensor weights = softmax(t), moved = rearrange(weights, "a b c -> (b a) c");
    s.output("weights", stored_as == "itself" ? weights : moved);
    s.output("largest", amax(weights * x, -1));
    s.output("y", amax(linear(s / "linear", t, 16), -1, true) * x + weights);
}

TEST_CASE("kernels are held to what others stored, wherever it lies") {
    for (const char* stored_as : {"itself", "a rearrangement"}) {
        LoadedModel model;
        weights_beside(Scope{&model.graph}, stored_as);
        model.entry.name = "beside";
        model.dtype = DType::bf16;
        for (const bool gradient : {false, true}) {
            CAPTURE(stored_as);
            const CompiledModel compiled =
                compile(model, {runner_program(model, gradient, false, {true})});
            const auto generated =
                model_on({"cpu", ""}, compiled.plan, model.dtype, Optimized::little);
            const auto rows =
                verify_kernels(compiled.plan, compiled.programs[0], *generated, kSample, false);
            CHECK(rows.size() >= 2);
            CHECK(missed(rows).empty());
        }
    }
}

TEST_CASE("values of bfloat16 are held to what it has, and slopes to their gradients") {
    LoadedModel model;
    Scope s{&model.graph};
    const Tensor x = s.input("x", {"batch", 8}, bf16), last = s.cache("last", {"batch", 8}, bf16);
    const Tensor y = tanh(cast(x, f32) + cast(last, f32));
    s.update(last, cast(y, bf16));
    s.output("y", y);
    s.output("rounded", cast(y * 3.0, bf16));
    s.output("x_itself", x);
    model.entry.name = "of_bfloat16";
    const CompiledModel compiled = compile(model, {runner_program(model, true, false, {true})});
    const CompiledProgram& program = compiled.programs[0];
    const auto generated = model_on({"cpu", ""}, compiled.plan, model.dtype, Optimized::little);
    CHECK(missed(verify_kernels(compiled.plan, program, *generated, kSample, false)).empty());
    const auto slopes = verify_gradients("of_bfloat16", program, kSample, false);
    REQUIRE(slopes.size() == 1);
    CHECK(missed(slopes).empty());
    CHECK(slopes[0].note.empty());
}

TEST_CASE("no slope is asked of a gradient that the model says itself, in a loop or a score") {
    const auto stepped = [](Tensor x) {
        return custom_gradient(round(x), {x}, [](Tensor dy) { return dy; });
    };
    for (const bool in_score : {false, true}) {
        LoadedModel model;
        Scope s{&model.graph};
        const Tensor x = s.input("x", {"batch", "len", 4}), start = s.input("start", {"len", 4});
        if (in_score)
            s.output("y", attention(x, x, x, [&](Pair p) { return stepped(dot(p.q, p.k)); }));
        else
            s.output("y", scan(x, start, [&](Tensor value, Tensor last) {
                              const Tensor next = stepped(value + last);
                              return Step{next, next};
                          }).value);
        model.entry.name = "own";
        const CompiledModel compiled = compile(model, {runner_program(model, true, false, {true})});
        const auto slopes = verify_gradients("own", compiled.programs[0], kSample, false);
        CHECK(!slopes.empty());
        for (const VerifyRow& slope : slopes)
            CHECK(slope.note == "not taken, since the model has a custom_gradient");
    }
}

TEST_CASE("each element is held to its own bound") {
    const Array expected{{3}, {1, 100, 0}}, bound{{3}, {1e-6, 1e-4, 0}};
    const auto row_of = [&](const std::vector<double>& actual) {
        VerifyRow row{"", "", "", {}, {}, true};
        compare_within(expected, bound, actual, false, 1e-3, row);
        return row;
    };
    CHECK(row_of({1, 100, 0}).ok);
    CHECK(row_of({1 + 5e-7, 100 - 5e-5, 0}).of_bound == doctest::Approx(0.5));
    CHECK(!row_of({1 + 5e-6, 100, 0}).ok);  // as far off as the second may be
    CHECK(!row_of({1, 100, 1e-30}).ok);
    CHECK(!row_of({1, std::numeric_limits<double>::quiet_NaN(), 0}).ok);
}

TEST_CASE("what is beyond float32 is infinite there, and nothing else is") {
    const double infinite = std::numeric_limits<double>::infinity();
    for (const auto& [actual, right] : {std::pair{infinite, true}, {-infinite, false}}) {
        VerifyRow row{"", "", "", {}, {}, true};
        compare_within({{1}, {5e38}}, {{1}, {1e30}}, {actual}, false, 1e-3, row);
        CHECK(row.ok == right);
    }
    VerifyRow row{"", "", "", {}, {}, true};
    compare_within({{1}, {3e38}}, {{1}, {1e30}}, {infinite}, false, 1e-3, row);
    CHECK(!row.ok);
}

TEST_CASE("elements without a bound are counted, and are numbers all the same") {
    const double infinite = std::numeric_limits<double>::infinity();
    VerifyRow row{"", "", "", {}, {}, true};
    compare_within({{2}, {1, 2}}, {{2}, {infinite, 0}}, {7, 2}, false, 1e-3, row);
    CHECK(row.ok);
    CHECK(row.note == "1 of 2 elements have no bound");
    compare_within({{2}, {1, 2}}, {{2}, {std::nan(""), 0}}, {7, 2}, false, 1e-3, row);
    CHECK(row.note == "1 of 2 elements have no bound");
    compare_within({{2}, {std::nan(""), 2}}, {{2}, {infinite, 0}}, {7, 2}, false, 1e-3, row);
    CHECK(row.ok);
    compare_within({{2}, {std::nan(""), 2}}, {{2}, {1, 0}}, {7, 2}, false, 1e-3, row);
    CHECK(!row.ok);
    row = {};
    compare_within({{2}, {1, 2}}, {{2}, {infinite, 0}}, {std::nan(""), 2}, false, 1e-3, row);
    CHECK(!row.ok);
}
