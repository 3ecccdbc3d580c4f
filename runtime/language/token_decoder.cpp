#include "token_decoder.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

namespace {

constexpr const char* kPrefill = "prefill";
constexpr const char* kStep = "decode_step";
constexpr const char* kRoom = "steps";  // of caches

bool has_program(const Model& model, const char* name) {
    return std::ranges::any_of(model.programs,
                               [&](const Program& program) { return program.name == name; });
}

}  // namespace

bool TokenDecoder::fits(const Model& model) {
    return has_program(model, kPrefill) && has_program(model, kStep);
}

TokenDecoder::TokenDecoder(const Model& model, Parameters& parameters)
    : prefill_(model, kPrefill, parameters),
      step_(model, kStep, parameters),
      sizes_(model, prefill_.program()) {
    for (const TensorSpec& input : prefill_.program().inputs)
        if (input.name != "ids")
            throw UserError("{} is not decoded from tokens alone: its logits read '{}', too",
                            {model.name, input.name});
    const TensorSpec& logits = spec_of(step_.program().outputs, "logits");
    if (logits.shape.size() != 3 || logits.dtype != DType::f32)
        throw UserError("{} has logits that are not f32 [batch, length, tokens]", {model.name});
    step_.keep_states();
    step_.leave_states();
}

std::span<const float> TokenDecoder::begin(std::span<const std::int32_t> prompt,
                                           std::int64_t steps) {
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length == 0) throw UserError("a prompt should have a token at least");
    if (length > steps)
        throw UserError("a prompt of {} tokens does not fit {} in all", {length, steps});
    DimValues dims = sizes_.of_text(length);
    dims[kRoom] = steps;
    step_.bind(dims);
    prefill_.bind(dims);
    for (const TensorSpec& input : step_.program().inputs)
        if (input.state) prefill_.place_output(input.name, step_.input<std::byte>(input.name));
    std::copy(prompt.begin(), prompt.end(), prefill_.input<std::int32_t>("ids"));
    prefill_.run();
    step_.states_changed();
    position_ = length, steps_ = steps;
    return prefill_.output_values("logits");
}

std::span<const float> TokenDecoder::step(std::int32_t token) {
    if (position_ >= steps_) throw UserError("there is no room for more than {} tokens", {steps_});
    *step_.input<std::int32_t>("ids") = token;
    *step_.input<std::int32_t>("position") = static_cast<std::int32_t>(position_);
    step_.run();
    ++position_;
    return step_.output_values("logits");
}

}  // namespace fovea::runtime
