#include "token_decoder.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

namespace {

constexpr const char* kPrefill = "prefill";
constexpr const char* kStep = "decode_step";
constexpr const char* kRoom = "steps";  // of caches
constexpr const char *kTextIds = "ids", *kTargetIds = "tgt", *kSourceIds = "src",
                     *kSourceLengths = "src_lens";

bool has_program(const Model& model, const char* name) {
    return std::ranges::any_of(model.programs,
                               [&](const Program& program) { return program.name == name; });
}

bool reads(const Program& program, std::string_view name) {
    return std::ranges::any_of(program.inputs,
                               [&](const TensorSpec& input) { return input.name == name; });
}

}  // namespace

bool TokenDecoder::fits(const Model& model) {
    return has_program(model, kPrefill) && has_program(model, kStep);
}

bool TokenDecoder::has_source(const Model& model) {
    return std::ranges::any_of(model.programs, [](const Program& program) {
        return program.name == kPrefill && reads(program, kSourceIds);
    });
}

TokenDecoder::TokenDecoder(const Model& model, Parameters& parameters)
    : prefill_(model, kPrefill, parameters),
      step_(model, kStep, parameters),
      tokens_(reads(prefill_.program(), kTextIds) ? kTextIds : kTargetIds),
      sizes_(model, prefill_.program(), tokens_) {
    check_inputs(model);
    if (has_source(model)) source_sizes_.emplace(model, prefill_.program(), kSourceIds);
    const TensorSpec& logits = spec_of(step_.program().outputs, "logits");
    if (logits.shape.size() != 3 || logits.dtype != DType::f32)
        throw UserError("{} has logits that are not f32 [batch, length, tokens]", {model.name});
    step_.keep_states();
    step_.leave_states();
}

void TokenDecoder::check_inputs(const Model& model) const {
    for (const TensorSpec& input : prefill_.program().inputs) {
        const bool is_source = input.name == kSourceIds && input.dtype == DType::i32;
        const bool is_length = input.name == kSourceLengths && input.shape.size() == 1;
        if (input.name == tokens_ || is_length || (is_source && input.shape.size() == 2)) continue;
        throw UserError("{} is not decoded from tokens alone: its logits read '{}', too",
                        {model.name, input.name});
    }
}

DimValues TokenDecoder::sizes_of(std::int64_t source, std::int64_t prompt) const {
    DimValues dims = sizes_.of_text(prompt);
    if (source_sizes_) dims.merge(source_sizes_->of_text(source));
    return dims;
}

void TokenDecoder::set_source(std::span<const std::int32_t> source) {
    if (source_sizes_)
        std::copy(source.begin(), source.end(), prefill_.input<std::int32_t>(kSourceIds));
    for (Instance* program : {&prefill_, &step_})
        if (program->has_input(kSourceLengths))
            *program->input<std::int32_t>(kSourceLengths) =
                static_cast<std::int32_t>(source.size());
}

std::span<const float> TokenDecoder::begin(std::span<const std::int32_t> source,
                                           std::span<const std::int32_t> prompt,
                                           std::int64_t steps) {
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length == 0 || (source_sizes_ && source.empty()))
        throw UserError("a prompt should have a token at least");
    if (length > steps)
        throw UserError("a prompt of {} tokens does not fit {} in all", {length, steps});
    DimValues dims = sizes_of(static_cast<std::int64_t>(source.size()), length);
    dims[kRoom] = steps;
    step_.bind(dims);
    prefill_.bind(dims);
    for (const TensorSpec& input : step_.program().inputs)
        if (input.state) prefill_.place_output(input.name, step_.input<std::byte>(input.name));
    std::copy(prompt.begin(), prompt.end(), prefill_.input<std::int32_t>(tokens_));
    set_source(source);
    prefill_.run();
    step_.states_changed();
    position_ = length, steps_ = steps;
    return prefill_.output_values("logits");
}

std::span<const float> TokenDecoder::step(std::int32_t token) {
    if (position_ >= steps_) throw UserError("there is no room for more than {} tokens", {steps_});
    *step_.input<std::int32_t>(tokens_) = token;
    *step_.input<std::int32_t>("position") = static_cast<std::int32_t>(position_);
    step_.run();
    ++position_;
    return step_.output_values("logits");
}

}  // namespace fovea::runtime
