// Attention whose scores are as far from 0 as float32 allows, with masks and rows that see nothing:
// forward and backward, on the CPU and on PTX, with mma.sync and with wgmma.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <fovea.h>

#include "codegen/autodiff/add_gradients.h"
#include "codegen/emit/nvptx/emit_ptx.h"
#include "codegen/graph/scan_function.h"
#include "codegen/pipeline.h"
#include "codegen/reference/interpreter.h"
#include "runtime/session.h"
#include "tests/random_seed.h"
#include "tools/fovea/device/targets.h"

using namespace fovea;

namespace {

constexpr std::int64_t kSequences = 3, kQueries = 5, kKeys = 7, kWidth = 64;

/// Which pairs a model hides: those of lengths, one of which is 0, those that a query does not see
/// yet, or all of a row by a boolean.
struct Hiding {
    const char* name;
    bool lengths, causal, allowed, zero;
};
constexpr Hiding kHidings[] = {{"none", false, false, false, false},
                               {"by_length", true, false, false, false},
                               {"zero", true, false, false, true},
                               {"causal", true, true, false, false},
                               {"allowed", false, false, true, false}};

/// The score is q · k alone, so that a query's first number times a key's is the score.
Graph attention_model(const Hiding& hiding) {
    Graph graph;
    Scope s{&graph};
    const Tensor q = s.input("q", {"batch", 1, "queries", kWidth});
    const Tensor k = s.input("k", {"batch", 1, "keys", kWidth});
    const Tensor v = s.input("v", {"batch", 1, "keys", kWidth});
    Mask mask = hiding.causal ? causal : no_mask;
    if (hiding.lengths) mask.lens = s.input("lens", {"batch"}, i32);
    if (hiding.allowed)
        mask.allowed = s.input("allowed", {"batch", 1, "queries", "keys"}, DType::boolean);
    if (hiding.zero) mask.masked_rows = MaskedRows::zero;
    const auto score = [](Pair p) { return dot(p.q, p.k); };
    s.output("y", attention(q, k, v, score, mask));
    return seal_scans(graph);
}

using Values = std::map<std::string, Array>;

Array filled(std::vector<std::int64_t> shape, const std::function<double(std::int64_t)>& value) {
    Array result{std::move(shape), {}};
    for (std::int64_t i = 0; i < result.size(); ++i) result.values.push_back(value(i));
    return result;
}

/// Scores `size` times 1, -1 or 0.5 by the key; with `equal`, all the same.
Values values_of(double size, bool equal) {
    const auto small = [](std::int64_t i) { return double(i * 37 % 17 - 8) / 8; };
    const double factors[] = {-1, 1, 0.5};
    const auto first = [](std::int64_t i) { return i % kWidth == 0; };
    Values values;
    values["q"] = filled({kSequences, 1, kQueries, kWidth},
                         [&](std::int64_t i) { return first(i) ? size : small(i) / 8; });
    values["k"] = filled({kSequences, 1, kKeys, kWidth}, [&](std::int64_t i) {
        return !first(i) ? 0 : equal ? 1 : factors[i / kWidth % 3];
    });
    values["v"] = filled({kSequences, 1, kKeys, kWidth}, small);
    values["y.grad"] = filled({kSequences, 1, kQueries, kWidth}, small);
    values["lens"] = filled({kSequences}, [](std::int64_t i) { return double(i * 3); });
    values["allowed"] = filled({kSequences, 1, kQueries, kKeys}, [](std::int64_t i) {
        return double(i / kKeys % 3 != 0 && i % 2 == 0);
    });
    return values;
}

void write_inputs(runtime::Instance& instance, const Values& values) {
    for (const runtime::TensorSpec& spec : instance.program().inputs) {
        const std::vector<double>& from = values.at(spec.name).values;
        void* to = instance.input<void>(spec.name);
        switch (spec.dtype) {
            case runtime::DType::i32:
                std::copy(from.begin(), from.end(), static_cast<std::int32_t*>(to));
                break;
            case runtime::DType::boolean:
                std::copy(from.begin(), from.end(), static_cast<std::uint8_t*>(to));
                break;
            default: std::copy(from.begin(), from.end(), static_cast<float*>(to));
        }
    }
}

/// Errors are measured by the values that were multiplied: of the gradient of k, queries.
double scale_of(const std::string& output, const Values& values) {
    const std::vector<double>& queries = values.at("q").values;
    double largest = 1;
    for (double value : queries) largest = std::max(largest, std::abs(value));
    return output == "k.grad" ? largest : 1;
}

void check_case(runtime::Instance& instance, const Graph& gradient, const Values& values,
                double tolerance) {
    Interpreter reference(gradient);
    for (const auto& [name, value] : values)
        if (reference.has(name)) reference.set(name, value);
    write_inputs(instance, values);
    instance.run();
    for (const auto& [name, expected] : reference.outputs()) {
        CAPTURE(name);
        const double scale = scale_of(name, values);
        if (scale > 1e38) continue;  // sums of such are beyond float32
        const std::span<const float> actual = instance.output_values(name);
        double worst = 0;
        for (std::size_t i = 0; i < actual.size(); ++i) {
            const double error = std::abs(double(actual[i]) - expected.values[i]) / scale;
            worst = error <= worst ? worst : error;  // NaN stays
        }
        CHECK(worst <= tolerance);
    }
}

void check_scores_on(const tool::Target& target, DType dtype, double tolerance) {
    CAPTURE(target.name);
    CAPTURE(target.architecture);
    CAPTURE(name_of(dtype));
    std::vector<ProgramRequest> requests;
    for (const Hiding& hiding : kHidings) {
        ProgramRequest request{.name = hiding.name,
                               .graph = attention_model(hiding),
                               .training = false,
                               .gradients = Gradients::of_parameters_and_inputs,
                               .fusion = {true, AttentionForm::fused}};
        request.dtype = dtype;
        requests.push_back(std::move(request));
    }
    const CompiledModel compiled =
        compile_model("scores", "", {}, requests,
                      tool::is_ptx(target) ? target::gpu_target() : target::cpu_target());
    const auto model = tool::model_on(target, compiled.plan, dtype, tool::Optimized::little);
    runtime::Parameters parameters(*model, {});
    for (std::size_t i = 0; i < std::size(kHidings); ++i) {
        CAPTURE(std::string(kHidings[i].name));
        const Graph gradient =
            add_gradients(requests[i].graph, {.from_loss = false, .of_inputs = true});
        runtime::Instance instance(*model, kHidings[i].name, parameters);
        instance.bind({{"batch", kSequences}, {"queries", kQueries}, {"keys", kKeys}});
        for (double size : {1.0, 1e6, -1e6, 1e30, -1e30, 2e38, -2e38})
            for (bool equal : {false, true}) {
                CAPTURE(size);
                CAPTURE(equal);
                check_case(instance, gradient, values_of(size, equal), tolerance);
            }
    }
}

}  // namespace

TEST_CASE("attention of extreme scores on the CPU") { check_scores_on({"cpu", ""}, f32, 2e-5); }

TEST_CASE("attention of extreme scores on PTX") {
    if (emit::why_not_ptx()) return;
    const std::vector<std::pair<const char*, DType>> all = {
        {"sm_80", f32}, {"sm_90a", DType::bf16}, {"sm_90a", f32}, {"sm_80", DType::bf16}};
    for (const auto& [architecture, dtype] : test::turns_of(all, 4))
        check_scores_on({"ptx-interpreter", architecture}, dtype, dtype == f32 ? 2e-5 : 4e-2);
}
