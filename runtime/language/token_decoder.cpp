#include "token_decoder.h"

#include <algorithm>

#include "../error.h"
#include "../memory/shape.h"

namespace fovea::runtime {

namespace {

constexpr const char* kPrefill = "prefill";
constexpr const char* kStep = "decode_step";
constexpr const char* kRoom = "steps";  // of caches
constexpr const char* kPosition = "position";
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
      sizes_(model, prefill_.program(), tokens_),
      cached_(model, step_.program(), sizes_.batch()) {
    check_inputs(model);
    if (has_source(model)) source_sizes_.emplace(model, prefill_.program(), kSourceIds);
    const TensorSpec& logits = spec_of(step_.program().outputs, "logits");
    if (logits.shape.size() != 3 || logits.dtype != DType::f32)
        throw UserError("{} has logits that are not f32 [batch, length, tokens]", {model.name});
    takes_many_ = !source_sizes_ && has_rows(model);
    step_.keep_states();
    step_.leave_states();
}

/// Whether positions are those of rows, which are the first dim of each state.
bool TokenDecoder::has_rows(const Model& model) const {
    if (sizes_.batch().empty()) return false;
    const Extent& first = spec_of(step_.program().inputs, kPosition).shape.front();
    return first.as_dim() >= 0 &&
           model.dims[static_cast<std::size_t>(first.as_dim())] == sizes_.batch() &&
           std::ranges::all_of(cached_.states(), &CachedRows::State::has_rows);
}

std::string TokenDecoder::why_not_beams() const {
    if (sizes_.batch().empty()) return "it reads one text at a time";
    const std::string state = cached_.why_not_follow();
    if (state.empty()) return "";
    return "its cache '" + state + "' has no row of its own for each text";
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

DimValues TokenDecoder::sizes_of(std::int64_t prompt, std::int64_t rows) const {
    DimValues dims = sizes_.of_text(prompt, rows);
    if (source_sizes_) dims.merge(source_sizes_->of_text(source_));
    dims[kRoom] = steps_;
    return dims;
}

void TokenDecoder::fill_prompt(std::span<const std::int32_t> source,
                               std::span<const std::int32_t> prompt) {
    std::ranges::copy(prompt, prefill_.input<std::int32_t>(tokens_));
    if (source_sizes_)
        std::copy(source.begin(), source.end(), prefill_.input<std::int32_t>(kSourceIds));
    set_source_length(prefill_, 1, source.size());
}

void TokenDecoder::set_source_length(Instance& program, std::size_t rows, std::size_t length) {
    if (program.has_input(kSourceLengths))
        std::fill_n(program.input<std::int32_t>(kSourceLengths), rows,
                    static_cast<std::int32_t>(length));
}

void TokenDecoder::start(std::int64_t texts, std::int64_t steps, std::int64_t source,
                         std::int64_t beam) {
    if (texts != 1 && !takes_many_) throw InternalError("{} texts of a model of one", {texts});
    if (beam != 1 && !why_not_beams().empty())
        throw InternalError("a beam of {} of a model whose rows cannot go on from others", {beam});
    if (source_sizes_ && source == 0)
        throw UserError("a text to answer should have a token at least");
    steps_ = steps, source_ = source;
    const std::int64_t rows = texts * beam;
    positions_.assign(static_cast<std::size_t>(rows), 0);
    has_stepped_ = false;
    step_.bind(sizes_of(1, rows));
    cached_.start(step_, positions_.size());
}

void TokenDecoder::verify_tokens(std::span<const std::int32_t> source,
                                 std::span<const std::int32_t> prompt) {
    steps_ = static_cast<std::int64_t>(prompt.size());
    source_ = static_cast<std::int64_t>(source.size());
    prefill_.bind(sizes_of(steps_, 1));
    fill_prompt(source, prompt);
    prefill_.check_inputs();
}

std::span<const float> TokenDecoder::read(std::int64_t row, std::span<const std::int32_t> source,
                                          std::span<const std::int32_t> prompt) {
    const auto length = static_cast<std::int64_t>(prompt.size());
    if (length == 0) throw UserError("a prompt should have a token at least");
    if (length > steps_)
        throw UserError("a prompt of {} tokens does not fit {} in all", {length, steps_});
    if (has_stepped_) step_.fetch_states();  // of the other rows
    prefill_.bind(sizes_of(length, 1));
    for (const CachedRows::State& state : cached_.states())
        prefill_.place_output(state.name,
                              state.address + static_cast<std::size_t>(row) * state.row_bytes);
    fill_prompt(source, prompt);
    set_source_length(step_, positions_.size(), source.size());
    prefill_.run();
    step_.states_changed();
    positions_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(length);
    cached_.wrote(static_cast<std::size_t>(row), prompt.size());
    return prefill_.output_values("logits");
}

void TokenDecoder::follow(std::span<const std::int32_t> parents) {
    if (has_stepped_) step_.fetch_states();
    cached_.follow(parents);
    step_.states_changed();
    std::vector<std::int32_t> positions;
    for (const std::int32_t parent : parents)
        positions.push_back(parent < 0 ? 0 : positions_[static_cast<std::size_t>(parent)]);
    positions_ = std::move(positions);
}

void TokenDecoder::end(std::int64_t row) {
    positions_[static_cast<std::size_t>(row)] = 0;
    cached_.end(static_cast<std::size_t>(row));
}

std::int64_t TokenDecoder::words() const {
    return step_.shape_of(spec_of(step_.program().outputs, "logits")).back();
}

/// Those of rows, where the model reads one for each; else they are the same in all.
void TokenDecoder::place_positions() {
    const std::int64_t count =
        element_count(step_.shape_of(spec_of(step_.program().inputs, kPosition)));
    auto* const places = step_.input<std::int32_t>(kPosition);
    if (count == std::ssize(positions_)) std::ranges::copy(positions_, places);
    else std::fill_n(places, count, std::ranges::max(positions_));
}

std::span<const float> TokenDecoder::step(std::span<const std::int32_t> tokens) {
    if (std::ranges::max(positions_) >= steps_)
        throw UserError("there is no room for more than {} tokens", {steps_});
    std::ranges::copy(tokens, step_.input<std::int32_t>(tokens_));
    place_positions();
    step_.run();
    has_stepped_ = true;
    cached_.stepped();
    for (std::int32_t& position : positions_)
        if (position > 0) ++position;
    return step_.output_values("logits");
}

}  // namespace fovea::runtime
