// The built-in Transformer: training steps, the encoder's forward pass, greedy decoding.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "codegen/base/error.h"
#include "models/transformer.h"
#include "runtime/instance.h"
#include "runtime/runner/bench_model.h"
#include "runtime/text/vocabulary.h"
#include "runtime/training_step.h"
#include "runtime/translator/decoding.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/bench/suites.h"
#include "tools/fovea/isa_option.h"
#include "tools/fovea/model/generated_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

/// A Transformer, and the sizes at which it is trained.
struct ModelSizes {
    std::string name;
    SettingValues settings;
    SampleDims training;
};

const ModelSizes kSmall{
    "d2l sizes",
    {{"hidden", "32"}, {"ffn", "64"}, {"heads", "4"}, {"layers", "2"}},
    {{"batch", 64}, {"src_len", 10}, {"tgt_len", 10}, {"src_vocab", 200}, {"tgt_vocab", 200}}};
const ModelSizes kBase{
    "base",
    {{"hidden", "512"}, {"ffn", "2048"}, {"heads", "8"}, {"layers", "6"}},
    {{"batch", 16}, {"src_len", 64}, {"tgt_len", 64}, {"src_vocab", 8000}, {"tgt_vocab", 8000}}};

/// The same with weights and activations in bfloat16.
ModelSizes in_bfloat16(ModelSizes sizes) {
    sizes.name += ", bf16";
    sizes.settings.emplace_back("dtype", "bf16");
    return sizes;
}

constexpr void encoder_forward(Scope s, const models::TransformerSettings& c) {
    Tensor src = s.input("src", {"batch", c.src_len}, i32);
    Tensor src_lens = s.input("src_lens", {"batch"}, i32);
    s.output("output", models::encode(s / "encoder", c, src, src_lens));
}

/// The compiled programs of one model.
class BenchedModel {
  public:
    BenchedModel(const ModelSizes& sizes, const Bench& bench) : sizes_(sizes) {
        LoadedModel model = load_model("transformer", sizes.settings);
        model.targets.cpu = bench.target();
        std::vector<ProgramRequest> requests = translator_programs(model, true);
        requests.push_back(
            {.name = "encoder_forward", .graph = builder_of<encoder_forward>()(model.values)});
        dtype_ = model.dtype;
        compiled_ = compile(model, requests);
        generated_ = &load_generated(compiled_.plan, isa_of_this_machine({dtype_}), Keep::nowhere,
                                     bench.optimized());
        parameters_ = std::make_unique<runtime::Parameters>(*generated_, sizes.training);
        parameters_->initialize(1);
    }

    BenchRow time_training(Bench& bench, bool streams);
    BenchRow time_encoder(Bench& bench, std::int64_t batch, std::int64_t length);
    BenchRow time_decoding(Bench& bench, std::int64_t steps);

  private:
    const CompiledProgram& program(const std::string& name) const {
        for (const CompiledProgram& program : compiled_.programs)
            if (program.name == name) return program;
        throw InternalError(fmt::format("bench: the model has no program '{}'", name));
    }
    Work work(const std::string& what, const std::string& pass, SampleDims dims) const {
        Work work{.suite = "models",
                  .name = fmt::format("{}, {}", what, sizes_.name),
                  .pass = pass,
                  .dims = std::move(dims)};
        work.dtype = name_of(dtype_);
        return work;
    }

    const ModelSizes& sizes_;
    DType dtype_ = DType::f32;
    CompiledModel compiled_;
    const runtime::Model* generated_ = nullptr;
    std::unique_ptr<runtime::Parameters> parameters_;
};

/// Forward, backward, clipping and Adam. `streams`: parameters and the optimizer's state are larger
/// than the caches, so the floor reads gradients, moments and parameters and writes the latter two.
BenchRow BenchedModel::time_training(Bench& bench, bool streams) {
    runtime::Parameters& parameters = *parameters_;
    runtime::Optimizer optimizer(parameters.trained_size());
    runtime::TrainingStep step(*generated_, parameters, optimizer);
    step.instance().bind(sizes_.training);
    runtime::fill_random(step.instance(), 1);
    Work row = work("training step", "step", sizes_.training);
    row.flops = row.floor_flops =
        product_flops(program("training_step").graph, true, sizes_.training);
    row.bytes = 7 * sizeof(float) * double(parameters.trained_size());
    if (streams) row.floor_bytes = row.bytes;
    return bench.measure(row, [&] {
        return milliseconds_of(
            [&] { step.run(1, optimizer.step(), {.learning_rate = 0.0001, .clip = 1}); });
    });
}

BenchRow BenchedModel::time_encoder(Bench& bench, std::int64_t batch, std::int64_t length) {
    SampleDims dims = sizes_.training;
    dims["batch"] = batch;
    dims["src_len"] = length;
    runtime::Instance instance(*generated_, "encoder_forward", *parameters_);
    instance.bind(dims);
    runtime::fill_random(instance, 1);
    const CompiledProgram& encoder = program("encoder_forward");
    Work row = work("encoder", "forward", {{"batch", batch}, {"src_len", length}});
    row.flops = row.floor_flops = product_flops(encoder.graph, false, dims);
    row.bytes = weight_bytes(compiled_.plan, encoder.plan, dims);
    return bench.measure(row, [&] { return milliseconds_of([&] { instance.run(); }); });
}

/// Sentence after sentence: a sample is a step, which reads the token that the step before found
/// the likeliest.
BenchRow BenchedModel::time_decoding(Bench& bench, std::int64_t steps) {
    SampleDims dims = sizes_.training;
    dims["batch"] = 1;
    dims["src_len"] = dims["steps"] = steps;
    const CompiledProgram& step = program("decode_step");
    Work row = work("greedy decoding, a token", "step",
                    {{"batch", 1}, {"src_len", steps}, {"steps", steps}});
    row.flops = product_flops(step.graph, false, dims);
    row.bytes = row.floor_bytes = weight_bytes(compiled_.plan, step.plan, dims);
    runtime::Decoding decoding(
        *generated_, *parameters_,
        {{"src_vocab", dims["src_vocab"]}, {"tgt_vocab", dims["tgt_vocab"]}});
    std::vector<std::int32_t> source(std::size_t(steps), 0);
    std::iota(source.begin(), source.end(), runtime::kEnd + 1);
    const std::int32_t length = std::int32_t(steps);
    std::int64_t position = steps;
    std::int32_t token = runtime::kBegin;
    const auto take_likeliest = [&](std::span<const float> logits) {
        token = std::int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
    };
    return bench.measure(row, [&] {
        if (position == steps) {
            take_likeliest(decoding.begin(source, {&length, 1}, {&runtime::kBegin, 1}, steps));
            position = 1;
        }
        return milliseconds_of([&] { take_likeliest(decoding.step({&token, 1}, position++)); });
    });
}

}  // namespace

std::vector<BenchRow> bench_models(Bench& bench) {
    std::vector<BenchRow> rows;
    if (bench.quick()) {
        ModelSizes tiny{"tiny", kSmall.settings, kSmall.training};
        tiny.settings.back() = {"layers", "1"};
        tiny.training["batch"] = 2;
        BenchedModel model(tiny, bench);
        return {model.time_training(bench, false), model.time_encoder(bench, 2, 5),
                model.time_decoding(bench, 4)};
    }
    {
        BenchedModel small(kSmall, bench);
        rows.push_back(small.time_training(bench, false));
    }
    for (const ModelSizes& sizes : {kBase, in_bfloat16(kBase)}) {
        BenchedModel base(sizes, bench);
        rows.push_back(base.time_training(bench, true));
        rows.push_back(base.time_encoder(bench, 8, 128));
        rows.push_back(base.time_decoding(bench, 64));
    }
    return rows;
}

}  // namespace fovea::tool
