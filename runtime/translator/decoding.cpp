// Greedy decoding with cached keys and values.
#include "decoding.h"

#include <algorithm>
#include <utility>

#include "../error.h"
#include "../shape.h"
#include "../text/vocabulary.h"

namespace fovea::runtime {

namespace {

constexpr const char* kCaches[] = {"keys", "values"};
constexpr const char* kMemories[] = {"memory_keys", "memory_values"};

std::string block_name(std::int64_t block, const char* leaf) {
    return "block" + std::to_string(block) + "." + leaf;
}

const TensorSpec& find_spec(const std::vector<TensorSpec>& specs, const std::string& name) {
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const TensorSpec& spec) { return spec.name == name; });
    if (found == specs.end()) throw InternalError("the program has no tensor " + name);
    return *found;
}

}  // namespace

Decoding::Decoding(const Model& model, Parameters& parameters, DimValues dims)
    : encode_(model, "encode", parameters),
      decode_(model, "decode_step", parameters),
      dims_(std::move(dims)) {
        while (decode_.has_input(block_name(blocks_, "keys"))) ++blocks_;
    // An element of the next cache depends on the same element of the cache alone.
    for (std::int64_t block = 0; block < blocks_; ++block)
        for (const char* leaf : kCaches) {
            const std::string name = block_name(block, leaf);
            decode_.write_over(name, name + "_next");
        }
}

void Decoding::begin(std::span<const std::int32_t> sources, std::span<const std::int32_t> lengths,
                     std::int64_t steps) {
        const auto batch = static_cast<std::int64_t>(lengths.size());
    dims_["batch"] = batch;
    dims_["src_len"] = static_cast<std::int64_t>(sources.size()) / batch;
    dims_["steps"] = steps;
    decode_.bind(dims_);
    encode_.bind(dims_);
    place_memory();
    std::copy(sources.begin(), sources.end(), encode_.input<std::int32_t>("src"));
    std::copy(lengths.begin(), lengths.end(), encode_.input<std::int32_t>("src_lens"));
    std::copy(lengths.begin(), lengths.end(), decode_.input<std::int32_t>("src_lens"));
    encode_.run();
    clear_caches();
}

// The encoder writes where the decoder reads.
void Decoding::place_memory() {
    for (std::int64_t block = 0; block < blocks_; ++block) {
        for (const char* leaf : kMemories) {
            const std::string name = block_name(block, leaf);
            encode_.place_output(name, decode_.input<float>(name));
        }
            }
}

void Decoding::clear_caches() {
    for (std::int64_t block = 0; block < blocks_; ++block) {
        for (const char* leaf : kCaches) {
            const std::string name = block_name(block, leaf);
            const std::int64_t count =
                element_count(decode_.shape_of(find_spec(decode_.program().inputs, name)));
            std::fill_n(decode_.input<float>(name), count, 0.0f);
        }
    }
}

std::span<const float> Decoding::step(std::span<const std::int32_t> tokens, std::int64_t position) {
    std::copy(tokens.begin(), tokens.end(), decode_.input<std::int32_t>("token"));
    *decode_.input<std::int32_t>("position") = static_cast<std::int32_t>(position);
    decode_.run();
    
    const TensorSpec& logits = find_spec(decode_.program().outputs, "logits");
    return {decode_.output<float>("logits"),
            static_cast<std::size_t>(element_count(decode_.shape_of(logits)))};
}

std::vector<std::int32_t> Decoding::translate(std::span<const std::int32_t> source,
                                              std::int64_t steps) {
    const auto length = static_cast<std::int32_t>(source.size());
    begin(source, {&length, 1}, steps);
    std::vector<std::int32_t> tokens;
    std::int32_t last = kBegin;
    for (std::int64_t position = 0; position < steps; ++position) {
        const std::span<const float> logits = step({&last, 1}, position);
        last = static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) -
                                         logits.begin());
        if (last == kEnd) break;
        tokens.push_back(last);
    }
    return tokens;
}

}  // namespace fovea::runtime
