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

std::size_t spec_bytes(const Instance& instance, const TensorSpec& spec) {
    const auto count = static_cast<std::size_t>(element_count(instance.shape_of(spec)));
    return count * size_of(spec.dtype);
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
      dims_(std::move(dims)) {
    find_states(model);
    step_.keep_states();
}

void Decoding::find_states(const Model& model) {
    const auto is_batch = [&](const Extent& size) {
        return size.as_dim() >= 0 && model.dims[static_cast<std::size_t>(size.as_dim())] == "batch";
    };
    for (const TensorSpec& input : step_.program().inputs) {
        if (!input.state) continue;
        const auto batch = std::find_if(input.shape.begin(), input.shape.end(), is_batch);
        const bool has_rows = batch != input.shape.end();
        if (has_rows && batch != input.shape.begin())
            throw UserError(
                "{} keeps '{}' of its source, whose first dim is not the batch: "
                "translations cannot be searched in rows of it",
                {model.name, input.name});
        const TensorSpec* after = find_spec(step_.program().outputs, input.name);
        states_.push_back(
            {.name = input.name, .has_rows = has_rows, .is_changed = after && after->state});
    }
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

void Decoding::start_rows(std::int64_t sentences, std::int64_t rows_each) {
    const auto rows = static_cast<std::size_t>(sentences * rows_each);
    for (State& state : states_) {
        const std::byte* from = prefill_.output<std::byte>(state.name);
        state.address = step_.input<std::byte>(state.name);
        state.bytes = spec_bytes(step_, *find_spec(step_.program().inputs, state.name));
        if (state.has_rows)
            copy_to_rows(from, state.address, static_cast<std::size_t>(sentences),
                         static_cast<std::size_t>(rows_each), state.bytes / rows);
        else std::memcpy(state.address, from, state.bytes);
    }
}

std::span<const float> Decoding::step(std::span<const std::int32_t> tokens, std::int64_t position) {
    std::copy(tokens.begin(), tokens.end(), step_.input<std::int32_t>("tgt"));
    const std::int64_t positions = element_count(step_.shape_of(position_));
    std::fill_n(step_.input<std::int32_t>(position_.name), positions,
                static_cast<std::int32_t>(position));
    step_.run();
    return step_.output_values("logits");
}

void Decoding::reorder(std::span<const std::int32_t> parents) {
    for (const State& state : states_) {
        if (!state.is_changed || !state.has_rows) continue;
        const std::size_t row_bytes = state.bytes / parents.size();
        row_copies_.resize(state.bytes);
        for (const bool is_back : {false, true})
            for (std::size_t row = 0; row < parents.size(); ++row) {
                const auto parent = static_cast<std::size_t>(parents[row]);
                if (parent == row) continue;
                std::byte* const copy = row_copies_.data() + row * row_bytes;
                if (is_back) std::memcpy(state.address + row * row_bytes, copy, row_bytes);
                else std::memcpy(copy, state.address + parent * row_bytes, row_bytes);
            }
    }
}

}  // namespace fovea::runtime
