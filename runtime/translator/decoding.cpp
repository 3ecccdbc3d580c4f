// What a step keeps, found by names; copies of rows.
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
    : encode_(model, "encode", parameters),
      decode_(model, "decode_step", parameters),
      dims_(std::move(dims)) {
    find_kept();
    decode_.keep_states();
}

void Decoding::find_kept() {
    for (const TensorSpec& input : decode_.program().inputs) {
        const bool is_fed = input.name == "token" || input.name == "position" ||
                            input.name == "src" || input.name == "src_lens";
        if (is_fed) continue;
        Kept kept{.name = input.name,
                  .is_state = input.state,
                  .is_encoded = encode_.has_output(input.name)};
        if (!kept.is_state && !kept.is_encoded)
            throw InternalError("nothing gives '" + input.name + "' to decode_step");
        kept_.push_back(std::move(kept));
    }
}

void Decoding::begin(std::span<const std::int32_t> sources, std::span<const std::int32_t> lengths,
                     std::int64_t steps, std::int64_t rows_each) {
    const auto sentences = static_cast<std::int64_t>(lengths.size());
    const auto src_len = static_cast<std::int64_t>(sources.size()) / sentences;
    dims_["src_len"] = src_len;
    dims_["steps"] = steps;
    dims_["batch"] = sentences;
    encode_.bind(dims_);
    dims_["batch"] = sentences * rows_each;
    decode_.bind(dims_);
    const auto feed = [&](const char* name, std::span<const std::int32_t> values) {
        if (encode_.has_input(name))
            std::copy(values.begin(), values.end(), encode_.input<std::int32_t>(name));
        if (!decode_.has_input(name)) return;
        copy_to_rows(reinterpret_cast<const std::byte*>(values.data()),
                     decode_.input<std::byte>(name), lengths.size(),
                     static_cast<std::size_t>(rows_each), values.size_bytes() / lengths.size());
    };
    feed("src", sources);
    feed("src_lens", lengths);
    encode_.run();
    start_rows(sentences, rows_each);
}

void Decoding::start_rows(std::int64_t sentences, std::int64_t rows_each) {
    const auto rows = static_cast<std::size_t>(sentences * rows_each);
    for (Kept& kept : kept_) {
        kept.address = decode_.input<std::byte>(kept.name);
        kept.bytes = spec_bytes(decode_, *find_spec(decode_.program().inputs, kept.name));
        if (kept.is_encoded)
            copy_to_rows(encode_.output<std::byte>(kept.name), kept.address,
                         static_cast<std::size_t>(sentences), static_cast<std::size_t>(rows_each),
                         kept.bytes / rows);
        else std::memset(kept.address, 0, kept.bytes);
    }
}

std::span<const float> Decoding::step(std::span<const std::int32_t> tokens, std::int64_t position) {
    std::copy(tokens.begin(), tokens.end(), decode_.input<std::int32_t>("token"));
    if (decode_.has_input("position"))
        *decode_.input<std::int32_t>("position") = static_cast<std::int32_t>(position);
    decode_.run();
    return decode_.output_values("logits");
}

void Decoding::reorder(std::span<const std::int32_t> parents) {
    for (const Kept& kept : kept_) {
        if (!kept.is_state) continue;
        const std::size_t row_bytes = kept.bytes / parents.size();
        row_copies_.resize(kept.bytes);
        for (const bool is_back : {false, true})
            for (std::size_t row = 0; row < parents.size(); ++row) {
                const auto parent = static_cast<std::size_t>(parents[row]);
                if (parent == row) continue;
                std::byte* const copy = row_copies_.data() + row * row_bytes;
                if (is_back) std::memcpy(kept.address + row * row_bytes, copy, row_bytes);
                else std::memcpy(copy, kept.address + parent * row_bytes, row_bytes);
            }
    }
}

}  // namespace fovea::runtime
