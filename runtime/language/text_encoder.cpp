#include "text_encoder.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

namespace {

using TokenLists = std::span<const std::vector<std::int32_t>>;

constexpr const char *kIds = "ids", *kSegments = "segments", *kLengths = "lens";

const TensorSpec* find_named(const std::vector<TensorSpec>& specs, std::string_view name) {
    const auto found =
        std::ranges::find_if(specs, [&](const TensorSpec& spec) { return spec.name == name; });
    return found == specs.end() ? nullptr : &*found;
}

bool is_input_of_texts(const TensorSpec& input) {
    return input.dtype == DType::i32 &&
           (((input.name == kIds || input.name == kSegments) && input.shape.size() == 2) ||
            (input.name == kLengths && input.shape.size() == 1));
}

/// The output with a vector for each token; null where there is none, or more than one.
const TensorSpec* find_vectors(const Program& program, const TensorSpec& ids) {
    const TensorSpec* vectors = nullptr;
    for (const TensorSpec& output : program.outputs) {
        if (output.dtype != DType::f32 || output.shape.size() != 3 ||
            output.shape[0].as_dim() != ids.shape[0].as_dim() ||
            output.shape[1].as_dim() != ids.shape[1].as_dim() || !output.shape[2].is_constant())
            continue;
        if (vectors || output.name == "logits") return nullptr;
        vectors = &output;
    }
    return vectors;
}

struct TextProgram {
    const TensorSpec* ids;
    const TensorSpec* vectors;
};

/// Null where the program is none of texts.
TextProgram find_parts(const Program& program) {
    const TensorSpec* ids = find_named(program.inputs, kIds);
    if (!ids || !std::ranges::all_of(program.inputs, is_input_of_texts) ||
        ids->shape[0].as_dim() < 0 || ids->shape[1].as_dim() < 0)
        return {};
    return {ids, find_vectors(program, *ids)};
}

/// Of `length` tokens, those of each row together.
void fill_rows(std::int32_t* rows, TokenLists texts, std::int64_t length) {
    for (const std::vector<std::int32_t>& text : texts) {
        std::fill(std::copy(text.begin(), text.end(), rows), rows + length, 0);
        rows += length;
    }
}

void pool(const float* tokens, std::int64_t count, std::int64_t width, Pooling pooling,
          std::vector<float>& vectors) {
    if (pooling == Pooling::first) count = 1;
    for (std::int64_t i = 0; i < width; ++i) {
        double sum = 0;
        for (std::int64_t token = 0; token < count; ++token) sum += tokens[token * width + i];
        vectors.push_back(static_cast<float>(sum / static_cast<double>(count)));
    }
}

}  // namespace

bool TextEncoder::fits(const Model& model) {
    return std::ranges::any_of(model.programs, [](const Program& program) {
        return program.name == "forward" && find_parts(program).vectors;
    });
}

TextEncoder::TextEncoder(const Model& model, Parameters& parameters)
    : instance_(model, "forward", parameters) {
    const TextProgram parts = find_parts(instance_.program());
    if (!parts.vectors)
        throw UserError(
            "{} has no vectors of texts: a model of i32 ids [batch, len], with lens [batch] and "
            "segments [batch, len] or without, and one f32 output [batch, len, width] has",
            {model.name});
    const auto dim = [&](int axis) {
        const Extent& size = parts.ids->shape[static_cast<std::size_t>(axis)];
        return model.dims[static_cast<std::size_t>(size.as_dim())];
    };
    batch_ = dim(0), length_ = dim(1);
    output_ = parts.vectors->name;
    width_ = parts.vectors->shape[2].value({});
}

std::vector<float> TextEncoder::encode(TokenLists texts, Pooling pooling) {
    std::vector<float> vectors;
    vectors.reserve(texts.size() * static_cast<std::size_t>(width_));
    const std::size_t most = instance_.has_input(kLengths) ? texts.size() : 1;
    for (std::size_t first = 0; first < texts.size(); first += most)
        run(texts.subspan(first, most), pooling, vectors);
    return vectors;
}

void TextEncoder::run(TokenLists texts, Pooling pooling, std::vector<float>& vectors) {
    std::int64_t longest = 0;
    for (const std::vector<std::int32_t>& text : texts) {
        if (text.empty()) throw UserError("a text without tokens has no vector");
        longest = std::max(longest, static_cast<std::int64_t>(text.size()));
    }
    fill(texts, longest);
    instance_.run();
    const float* tokens = instance_.output<float>(output_);
    for (const std::vector<std::int32_t>& text : texts) {
        pool(tokens, static_cast<std::int64_t>(text.size()), width_, pooling, vectors);
        tokens += longest * width_;
    }
}

void TextEncoder::verify_tokens(const std::vector<std::int32_t>& text) {
    fill({&text, 1}, std::ssize(text));
    instance_.check_inputs();
}

void TextEncoder::fill(TokenLists texts, std::int64_t longest) {
    const auto count = static_cast<std::int64_t>(texts.size());
    instance_.bind({{batch_, count}, {length_, longest}});
    fill_rows(instance_.input<std::int32_t>(kIds), texts, longest);
    if (instance_.has_input(kSegments))
        std::fill_n(instance_.input<std::int32_t>(kSegments), count * longest, 0);
    if (instance_.has_input(kLengths))
        std::ranges::transform(texts, instance_.input<std::int32_t>(kLengths),
                               [](const auto& text) { return std::int32_t(text.size()); });
}

}  // namespace fovea::runtime
