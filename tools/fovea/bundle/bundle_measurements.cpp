// What a bundle measures: products, attention and a training step of the paper's base model.
#include <fmt/format.h>

#include <algorithm>

#include "tools/fovea/bench/backward_steps.h"
#include "tools/fovea/bench/count_flops.h"
#include "tools/fovea/bundle/bundle_cases.h"
#include "tools/fovea/device/gpu_graphs.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

runtime::Json work_of(const std::string& suite, const std::string& name, const std::string& pass,
                      const std::string& dtype) {
    return runtime::Json::Object{
        {"suite", suite}, {"name", name}, {"pass", pass}, {"dtype", dtype}};
}

void add_product(BundleWriter& writer, std::int64_t rows, std::int64_t k, std::int64_t columns,
                 bool tf32) {
    const std::string name = fmt::format("{}x{}x{}", rows, k, columns);
    const std::string dtype = tf32 ? "tf32" : "bf16";
    const CompiledModel model = compile_model("bundle", "", {},
                                              {{.name = "product",
                                                .graph = product_graph(k, columns, tf32),
                                                .dtype = tf32 ? DType::f32 : DType::bf16,
                                                .tf32 = tf32}},
                                              target::gpu_target());
    writer.begin_model(model, fmt::format("measured {} product {}", dtype, name),
                       emit::PtxOptions{});
    writer.add(BenchCase{.name = fmt::format("{} product {}", dtype, name),
                         .dims = {{"rows", rows}},
                         .small_dims = {{"rows", 32}},
                         .flops = 2 * double(rows) * double(k) * double(columns),
                         .work = work_of("contraction", name, "forward", dtype)});
}

/// Kernels of the backward pass.
std::vector<std::string> backward_kernels(const CompiledModel& model) {
    const CompiledProgram& program = model.programs[0];
    const std::vector<bool> chosen = backward_steps(model.plan, program);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i])
            names.push_back(model.plan.kernels[std::size_t(program.plan.steps[i].kernel)].name);
    return names;
}

void add_attention(BundleWriter& writer, std::int64_t width, bool is_causal, bool backward) {
    const std::int64_t heads = 2048 / width;
    const CompiledModel model = compile_model(
        "bundle", "", {},
        {{.name = "attention",
          .graph = attention_graph(
              heads, width, is_causal ? AttentionMask::causal : AttentionMask::none, DType::bf16),
          .gradients = backward ? Gradients::of_parameters_and_inputs : Gradients::none,
          .fusion = Fusion(true, AttentionForm::fused),
          .dtype = DType::bf16}},
        target::gpu_target());
    const std::string name = fmt::format("width {}, {}", width, is_causal ? "causal" : "full");
    const std::string pass = backward ? "backward" : "forward";
    writer.begin_model(model, fmt::format("measured attention {}, {}", name, pass),
                       emit::PtxOptions{});
    for (std::int64_t length : {512, 2048, 8192}) {
        const std::int64_t batch = std::max<std::int64_t>(1, 16384 / length);
        const double n = double(length), pairs = is_causal ? n * (n + 1) / 2 : n * n;
        writer.add(
            BenchCase{.name = fmt::format("bf16 attention {}, {} keys, {}", name, length, pass),
                      .dims = {{"batch", batch}, {"queries", length}, {"keys", length}},
                      .small_dims = {{"batch", 1}, {"queries", 24}, {"keys", 24}},
                      .flops = (backward ? 10 : 4) * double(batch * heads * width) * pairs,
                      .work = work_of("attention", name, pass, "bf16"),
                      .counted = backward ? backward_kernels(model) : std::vector<std::string>{}});
    }
}

void add_step(BundleWriter& writer) {
    LoadedModel loaded = load_model("attention_is_all_you_need", {{"dtype", "bf16"}});
    const CompiledModel model =
        compile(loaded, {translator_programs(loaded, {})[0]}, Kernels::of_gpu);
    writer.begin_model(model, "measured training step, base", emit::PtxOptions{});
    const SampleDims dims = {{"batch", 64},
                             {"src_len", 64},
                             {"tgt_len", 64},
                             {"src_vocab", 32000},
                             {"tgt_vocab", 32000}};
    writer.add(BenchCase{
        .name = "bf16 training step, base",
        .dims = dims,
        .small_dims =
            {{"batch", 1}, {"src_len", 3}, {"tgt_len", 2}, {"src_vocab", 5}, {"tgt_vocab", 5}},
        .flops = product_flops(model.programs[0].graph, true, dims),
        .work = work_of("models", "training step, base", "step", "bf16")});
}

}  // namespace

void add_measurements(BundleWriter& writer, bool quick) {
    if (quick) return add_product(writer, 32, 32, 32, false);
    for (bool tf32 : {false, true})
        for (std::int64_t size : {1024, 4096, 8192}) add_product(writer, size, size, size, tf32);
    for (std::int64_t width : {64, 128})
        for (bool is_causal : {false, true})
            for (bool backward : {false, true}) add_attention(writer, width, is_causal, backward);
    add_step(writer);
}

}  // namespace fovea::tool
