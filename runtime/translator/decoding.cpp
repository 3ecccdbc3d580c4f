// States of a step, found by names; copies of rows.
#include "decoding.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "../error.h"
#include "../memory/shape.h"

namespace fovea::runtime {

namespace {

const TensorSpec* find_spec(const std::vector<TensorSpec>& specs, const std::string& name) {
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const TensorSpec& spec) { return spec.name == name; });
    return found == specs.end() ? nullptr : &*found;
}

/// Copies whole sentences, [sentences, …], to each of their rows.
void copy_to_rows(const std::byte* from, std::byte* to, std::size_t sentences,
                  std::size_t rows_each, std::size_t row_bytes) {
    for (std::size_t sentence = 0; sentence < sentences; ++sentence)
        for (std::size_t row = 0; row < rows_each; ++row)
            std::memcpy(to + (sentence * rows_each + row) * row_bytes, from + sentence * row_bytes,
                        row_bytes);
}

}  // namespace

Decoding::Decoding(const Model& model, Parameters& parameters, DimValues dims)
    : prefill_(model, "prefill", parameters),
      step_(model, "decode_step", parameters),
      position_(*find_spec(step_.program().inputs, "position")),
      dims_(std::move(dims)),
      cached_(model, step_.program(), "batch") {
    if (const std::string state = cached_.why_not_follow(); !state.empty())
        throw UserError(
            "{} keeps '{}' of its source, whose first dim is not the batch: "
            "translations cannot be searched in rows of it",
            {model.name, state});
    step_.keep_states();
}

std::span<const float> Decoding::begin(std::span<const std::int32_t> sources,
                                       std::span<const std::int32_t> lengths,
                                       std::span<const std::int32_t> first, std::int64_t steps,
                                       std::int64_t rows_each) {
    const auto sentences = static_cast<std::int64_t>(lengths.size());
    dims_["src_len"] = static_cast<std::int64_t>(sources.size()) / sentences;
    dims_["steps"] = steps;
    dims_["tgt_len"] = 1;
    dims_["batch"] = sentences;
    prefill_.bind(dims_);
    dims_["batch"] = sentences * rows_each;
    step_.bind(dims_);
    const auto feed = [&](const char* name, std::span<const std::int32_t> values) {
        if (prefill_.has_input(name))
            std::copy(values.begin(), values.end(), prefill_.input<std::int32_t>(name));
        if (!step_.has_input(name)) return;
        copy_to_rows(reinterpret_cast<const std::byte*>(values.data()),
                     step_.input<std::byte>(name), lengths.size(),
                     static_cast<std::size_t>(rows_each), values.size_bytes() / lengths.size());
    };
    feed("src", sources);
    feed("src_lens", lengths);
    std::copy(first.begin(), first.end(), prefill_.input<std::int32_t>("tgt"));
    prefill_.run();
    start_rows(sentences, rows_each);
    return prefill_.output_values("logits");
}

/// The first row of each sentence takes the states of the prefill, the others go on from it.
void Decoding::start_rows(std::int64_t sentences, std::int64_t rows_each) {
    const auto each = static_cast<std::size_t>(rows_each);
    const std::size_t rows = static_cast<std::size_t>(sentences) * each;
    cached_.start(step_, rows);
    for (const CachedRows::State& state : cached_.states()) {
        const std::byte* from = prefill_.output<std::byte>(state.name);
        if (!state.has_rows) std::memcpy(state.address, from, state.bytes);
        else
            for (std::size_t row = 0; row < rows; row += each)
                std::memcpy(state.address + row * state.row_bytes,
                            from + row / each * state.row_bytes, state.row_bytes);
    }
    std::vector<std::int32_t> parents;
    for (std::size_t row = 0; row < rows; ++row) {
        if (row % each == 0) cached_.wrote(row, 1);
        parents.push_back(static_cast<std::int32_t>(row / each * each));
    }
    if (each > 1) cached_.follow(parents);
}

std::span<const float> Decoding::step(std::span<const std::int32_t> tokens, std::int64_t position) {
    std::copy(tokens.begin(), tokens.end(), step_.input<std::int32_t>("tgt"));
    const std::int64_t positions = element_count(step_.shape_of(position_));
    std::fill_n(step_.input<std::int32_t>(position_.name), positions,
                static_cast<std::int32_t>(position));
    step_.run();
    cached_.stepped();
    return step_.output_values("logits");
}

}  // namespace fovea::runtime
