// Kernels of losses that store no logits: against the reference over odd sizes, bit by bit over the
// number of threads, and by what memory they take.
#include <doctest/doctest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "dsl/fovea.h"
#include "runtime/instance.h"
#include "tools/fovea/device/targets.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"
#include "tools/fovea/verify/verify_kernels.h"

using namespace fovea;
using namespace fovea::tool;

namespace {

struct Loss {
    int classes = 37, width = 12;
    bool bias = true, lens = false, gradient = true;
    CrossEntropyOptions options{};
    double scale = 1, cap = 0;
};

void build_loss(const Loss& loss, Graph& graph) {
    Scope s{&graph};
    Tensor x = s.input("x", {"batch", "len", loss.width});
    Tensor labels = s.input("labels", {"batch", "len"}, i32);
    Tensor logits = linear(s / "head", x, loss.classes, {.bias = loss.bias});
    if (loss.scale != 1) logits = logits * loss.scale;
    if (loss.cap != 0) logits = tanh(logits / loss.cap) * loss.cap;
    s.output("loss", loss.lens ? cross_entropy(logits, labels, s.input("lens", {"batch"}, i32))
                               : cross_entropy(logits, labels, loss.options));
}

/// Chunks of 16 tokens, tiles of 10 classes.
void take_small_pieces(target::Lowering& lowering) {
    lowering.loss.chunk_floats = 1;
    lowering.loss.least_rows = 16;
    lowering.loss.tile = 10;
}

struct Compiled {
    CompiledModel model;
    std::shared_ptr<const runtime::Model> generated;

    const CompiledProgram& program() const { return model.programs[0]; }
};
Compiled compiled(const Loss& loss, AttentionForm form = AttentionForm::fused) {
    LoadedModel model;
    build_loss(loss, model.graph);
    model.entry.name = "loss";
    take_small_pieces(model.targets.cpu.lowering);
    Compiled result{compile(model, {runner_program(model, loss.gradient, false, {true, form})}),
                    nullptr};
    result.generated = model_on({"cpu", ""}, result.model.plan, model.dtype, Optimized::little);
    return result;
}

void check(const Compiled& compiled, std::int64_t batch, std::int64_t len) {
    CAPTURE(batch);
    CAPTURE(len);
    const Sample sample{{{"batch", batch}, {"len", len}}, Sample::Lengths::any, 7};
    const auto rows =
        verify_kernels(compiled.model.plan, compiled.program(), *compiled.generated, sample, false);
    for (const VerifyRow& row : rows) {
        CAPTURE(row.kernel);
        CAPTURE(row.of_bound);
        CHECK(row.ok);
    }
}

bool stores_no_logits(const plan::Program& program, int classes) {
    for (const plan::Tensor& tensor : program.tensors) {
        bool of_classes = false, of_tokens = false;
        for (const Dim& dim : tensor.shape) {
            of_classes = of_classes || dim == Dim(classes);
            of_tokens = of_tokens || !dim.is_static();
        }
        if (of_classes && of_tokens) return false;
    }
    return true;
}

/// All outputs, one after the other.
std::vector<float> run(const Compiled& compiled, const Sample& sample, int threads) {
    const plan::Program& plan = compiled.program().plan;
    const Values values = draw_values(plan, sample);
    runtime::Parameters parameters(*compiled.generated, {});
    for (std::size_t i = 0; i < parameters.count(); ++i)
        std::ranges::copy(values.at(compiled.generated->parameters[i].name).values,
                          parameters.values(i).data());
    runtime::Instance instance(*compiled.generated, plan.name, parameters);
    instance.bind({sample.dims.begin(), sample.dims.end()});
    for (const runtime::TensorSpec& spec : instance.program().inputs) {
        const std::vector<double>& from = values.at(spec.name).values;
        if (spec.dtype == runtime::DType::i32)
            std::ranges::copy(from, instance.input<std::int32_t>(spec.name));
        else std::ranges::copy(from, instance.input<float>(spec.name));
    }
    omp_set_num_threads(threads);
    instance.run();
    std::vector<float> all;
    for (const runtime::TensorSpec& spec : instance.program().outputs) {
        const std::span<const float> own = instance.output_values(spec.name);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

}  // namespace

TEST_CASE("losses without logits agree with the reference at sizes around chunks") {
    std::vector<Loss> losses(8);
    losses[1].bias = false;
    losses[1].options = {.ignored = 3};
    losses[2].options = {.label_smoothing = 0.2, .mean = false};
    losses[3].lens = true;
    losses[4].classes = 2;
    losses[4].width = 3;
    losses[5].gradient = false;
    losses[6].cap = 1.5;
    losses[6].bias = false;
    losses[7].scale = -0.25;
    losses[7].cap = 2;
    for (const Loss& loss : losses) {
        CAPTURE(loss.classes);
        CAPTURE(loss.bias);
        CAPTURE(loss.lens);
        const Compiled made = compiled(loss);
        CHECK(stores_no_logits(made.program().plan, loss.classes));
        REQUIRE(made.program().losses.size() == 1);
        CHECK(made.program().losses[0].fused);
        for (const auto& [batch, len] :
             {std::pair<int, int>{1, 1}, {1, 15}, {4, 4}, {17, 1}, {3, 11}, {0, 3}, {2, 48}})
            if (batch > 0 || !loss.options.mean || loss.lens) check(made, batch, len);
    }
}

TEST_CASE("any number of threads gives the same bits") {
    const Compiled made = compiled({.classes = 203, .width = 48});
    const Sample sample{{{"batch", 3}, {"len", 19}}, Sample::Lengths::any, 5};
    const std::vector<float> one = run(made, sample, 1);
    for (int threads : {2, 3, 7}) {
        CAPTURE(threads);
        const std::vector<float> some = run(made, sample, threads);
        REQUIRE(some.size() == one.size());
        CHECK(std::memcmp(some.data(), one.data(), one.size() * sizeof(float)) == 0);
    }
}

TEST_CASE("terms of logits of any size, and their gradients, are numbers") {
    for (double cap : {0.0, 30.0}) {
        CAPTURE(cap);
        const Compiled made = compiled({.classes = 21, .width = 5, .cap = cap});
        const Sample sample{{{"batch", 2}, {"len", 9}}, Sample::Lengths::any, 2};
        Values values = draw_values(made.program().plan, sample);
        for (double& x : values.at("x").values) x *= 1 << 14;
        const auto rows =
            verify_kernels(made.model.plan, made.program(), *made.generated, sample, values, false);
        for (const VerifyRow& row : rows) {
            CAPTURE(row.kernel);
            CAPTURE(row.note);
            CHECK(row.ok);
        }
    }
}

TEST_CASE("few classes keep their logits, unless it is asked for, and why is said") {
    const auto choice = [](const Loss& loss, AttentionForm form) {
        return compiled(loss, form).program().losses.at(0);
    };
    const LossChoice few = choice({.classes = 37}, AttentionForm::faster);
    CHECK(!few.fused);
    CHECK(few.reason == "of 37 classes, fewer than 4096, that is faster");
    const LossChoice many = choice({.classes = 5000, .width = 3}, AttentionForm::faster);
    CHECK(many.fused);
    CHECK(many.reason.starts_with("logits of 16 tokens at a time, of "));
    CHECK(!choice({.classes = 5000, .width = 3}, AttentionForm::plain).fused);
    const CompiledProgram program = compiled({.classes = 37}, AttentionForm::faster).program();
    REQUIRE(program.notes.size() == 1);
    CHECK(program.notes[0].ends_with(": logits are stored: " + few.reason));
    CHECK(!stores_no_logits(program.plan, 37));
}
