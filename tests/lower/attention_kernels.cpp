#include "tests/lower/attention_kernels.h"

#include <algorithm>

#include "codegen/base/error.h"
#include "codegen/pipeline.h"

namespace fovea::test {

using kernel::Kernel;

namespace {

/// Attention of a program that computes gradients, and these; its other kernels go over no tiles.
std::vector<Kernel> compiled(const AttentionVariant& variant, const target::Target& target) {
    const bool is_float = variant.precision == Precision::float32;
    const bool projects = variant.precision == Precision::bfloat16_memory;
    std::vector<Kernel> kernels =
        compile_model("attention", "model.cpp", {},
                      {{.name = "gradient",
                        .graph = attention_graph(variant),
                        .training = variant.dropout > 0,
                        .gradients = projects ? Gradients::of_parameters
                                              : Gradients::of_parameters_and_inputs,
                        .fusion = {true, AttentionForm::fused},
                        .dtype = is_float ? f32 : bf16}},
                      target)
            .plan.kernels;
    std::erase_if(kernels, [](const Kernel& one) { return one.form != kernel::Form::tiles; });
    return kernels;
}

}  // namespace

Kernel attention_forward(const AttentionVariant& variant) {
    return attention_kernels(variant).front();
}

Kernel attention_backward(const AttentionVariant& variant) {
    return compiled(variant, target::cpu_target()).at(1);
}

std::vector<Kernel> attention_gradients(const AttentionVariant& variant) {
    std::vector<Kernel> kernels = attention_kernels(variant);
    kernels.erase(kernels.begin());
    return kernels;
}

std::vector<Kernel> attention_kernels(const AttentionVariant& variant) {
    return compiled(variant, target::gpu_target());
}

std::size_t loaded_buffer(const Kernel& kernel, std::string_view tile) {
    for (const kernel::Node& node : kernel.nodes)
        if (auto load = std::get_if<kernel::Load>(&node.operation); load && node.name == tile)
            return std::size_t(load->access.buffer);
    throw InternalError(kernel.name + " loads no tile " + std::string(tile));
}

std::size_t written_buffer(const Kernel& kernel) {
    const auto is_written = [](const kernel::Buffer& buffer) { return buffer.written; };
    return std::size_t(std::find_if(kernel.buffers.begin(), kernel.buffers.end(), is_written) -
                       kernel.buffers.begin());
}

AttentionVariant readable_attention() {
    AttentionVariant variant{.name = "decoder"};
    variant.window = kCausal, variant.lengths = AttentionVariant::Lengths::sequences;
    return variant;
}

std::vector<AttentionVariant> attention_variants() {
    using L = AttentionVariant::Lengths;
    std::vector<AttentionVariant> all;
    const auto add = [&](const char* name, int width, int value_width) {
        all.push_back({.name = name, .width = width, .value_width = value_width});
        return &all.back();
    };
    add("plain", 64, 64);
    add("padded", 64, 64)->lengths = L::sequences;
    auto it = add("causal_padded", 64, 64);
    it->window = kCausal, it->lengths = L::sequences;
    add("by_query", 20, 80)->lengths = L::queries;
    it = add("uniform_by_query", 20, 20);
    it->uniform = true, it->lengths = L::queries;
    it = add("uniform", 32, 32);
    it->uniform = true, it->window = kCausal, it->lengths = L::sequences;
    it = &add("heads_inside", 8, 8)->lie(Lying::heads_inside);
    it->lengths = L::sequences;
    it = add("grouped", 64, 64);
    it->heads = 4, it->key_heads = 2, it->window = kCausal, it->lengths = L::sequences;
    it = add("one_head_of_keys", 16, 16);
    it->heads = 3, it->key_heads = 1;
    add("window", 80, 20)->window = {29, 0};
    it = add("uniform_window", 16, 16);
    it->uniform = true, it->window = {29, 2}, it->lengths = L::sequences;
    add("wide", 128, 200)->window = kCausal;
    add("soft_cap", 20, 20)->score = Score::soft_cap;
    it = add("alibi", 64, 64);
    it->score = Score::alibi_by_head, it->window = kCausal;
    it = add("additive", 20, 16);
    it->score = Score::additive, it->lengths = L::sequences;
    add("allowed", 16, 16)->allowed = true;
    it = add("uniform_allowed", 16, 16);
    it->uniform = true, it->allowed = true;
    it = add("dropout", 32, 32);
    it->dropout = 0.25, it->lengths = L::sequences;
    return all;
}

AttentionVariant attention_variant(std::string_view name) {
    for (const AttentionVariant& variant : attention_variants())
        if (variant.name == name) return variant;
    throw InternalError("no variant of attention is called " + std::string(name));
}

AttentionVariant in_bfloat16(AttentionVariant variant) {
    variant.name += "_bfloat16", variant.precision = Precision::bfloat16_products;
    return variant;
}

AttentionVariant in_bfloat16_memory(AttentionVariant variant) {
    variant.name += "_memory_bfloat16", variant.precision = Precision::bfloat16_memory;
    return variant;
}

}  // namespace fovea::test
