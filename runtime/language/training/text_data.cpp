#include "text_data.h"

#include <algorithm>

#include "../../error.h"
#include "../../trainer/fingerprint.h"
#include "../../weights/storage_name.h"
#include "../../weights/weight_tensors.h"

namespace fovea::runtime {

namespace {

const TensorSpec& ids_of(const Model& model, const Program& program) {
    const TensorSpec* ids = nullptr;
    for (const TensorSpec& input : program.inputs) {
        if (input.name == "ids") ids = &input;
        else if (input.name != "labels" && input.name != "lens")
            throw UserError("{} is not trained on texts alone: its loss reads '{}', too",
                            {model.name, input.name});
    }
    if (!ids || ids->shape.size() != 2)
        throw UserError("{} is not trained on texts: its loss reads no ids [batch, length]",
                        {model.name});
    return *ids;
}

std::int64_t sum_of_lengths(const std::vector<std::int32_t>& lengths,
                            std::span<const std::uint32_t> windows) {
    std::int64_t sum = 0;
    for (const std::uint32_t window : windows) sum += lengths[window];
    return sum;
}

}  // namespace

TextDims text_dims(const Model& model) {
    const auto step = std::ranges::find(model.programs, "training_step", &Program::name);
    if (step == model.programs.end() && storage_of(model))
        throw UserError(
            "this {} was built with --set weights={}, and such weights are not trained: build one "
            "without, and quantize what it has trained",
            {model.name, storage_text(storage_of(model))});
    if (step == model.programs.end())
        throw UserError("{} has nothing to train: no loss, or no parameter that moves by it",
                        {model.name});
    const std::vector<Extent>& shape = ids_of(model, *step).shape;
    const auto name_of = [&](const Extent& size) {
        return size.as_dim() < 0 ? "" : model.dims[static_cast<std::size_t>(size.as_dim())];
    };
    const TextDims dims = {
        .batch = name_of(shape[0]),
        .length = name_of(shape[1]),
        .has_lengths =
            std::ranges::find(step->inputs, "lens", &TensorSpec::name) != step->inputs.end()};
    const bool is_single = shape[0].is_constant() && shape[0].value({}) == 1;
    if (dims.length.empty() || (dims.batch.empty() && !is_single))
        throw UserError("{} is trained on texts of one size alone: its ids are {}",
                        {model.name, "of sizes that are fixed or computed"});
    return dims;
}

TextData::TextData(TextTokens tokens, const std::vector<std::string>& texts, std::int64_t length,
                   TextDims dims, std::optional<std::int32_t> end)
    : tokens_(std::move(tokens)), length_(length), dims_(std::move(dims)) {
    for (const std::string& text : texts) {
        const std::vector<std::int32_t> ids = tokens_.encode(text);
        const std::size_t begin = ids_.size();
        ids_.insert(ids_.end(), ids.begin(), ids.end());
        if (end) ids_.push_back(*end);
        cut(begin, ids_.size());
    }
    if (starts_.empty())
        throw UserError(
            "the data has {} tokens, too few for a window of {} and the token behind it",
            {ids_.size(), dims_.has_lengths ? 1 : length});
}

void TextData::cut(std::size_t begin, std::size_t end) {
    const auto length = static_cast<std::size_t>(length_);
    for (std::size_t start = begin; start + 1 < end; start += length) {
        const std::size_t labels = std::min(length, end - 1 - start);
        if (labels < length && !dims_.has_lengths) return;
        starts_.push_back(start);
        lengths_.push_back(static_cast<std::int32_t>(labels));
    }
}

std::int32_t TextData::largest() const { return *std::ranges::max_element(ids_); }

std::uint64_t TextData::fingerprint() const { return fingerprint_of({ids_, lengths_}); }

std::vector<DataOption> TextData::options() const { return {{"len", length_, 0}}; }

LoadedBatch TextData::load(Instance& instance, std::span<const std::uint32_t> batch,
                           std::span<const std::uint32_t> step) const {
    std::size_t steps = 1;
    for (const std::uint32_t window : batch)
        steps = std::max(steps, static_cast<std::size_t>(lengths_[window]));
    DimValues sizes = {{dims_.length, static_cast<std::int64_t>(steps)}};
    if (!dims_.batch.empty()) sizes[dims_.batch] = static_cast<std::int64_t>(batch.size());
    instance.bind(sizes);
    auto* ids = instance.input<std::int32_t>("ids");
    auto* labels = instance.input<std::int32_t>("labels");
    std::fill_n(ids, batch.size() * steps, 0);
    std::fill_n(labels, batch.size() * steps, 0);
    for (std::size_t row = 0; row < batch.size(); ++row) {
        const auto start = ids_.begin() + static_cast<std::ptrdiff_t>(starts_[batch[row]]);
        const auto length = static_cast<std::ptrdiff_t>(lengths_[batch[row]]);
        std::copy(start, start + length, ids + row * steps);
        std::copy(start + 1, start + 1 + length, labels + row * steps);
        if (dims_.has_lengths)
            instance.input<std::int32_t>("lens")[row] = static_cast<std::int32_t>(length);
    }
    const std::size_t losses = std::max<std::size_t>(instance.output_values("loss").size(), 1);
    const double nats = static_cast<double>(batch.size() * steps) / static_cast<double>(losses);
    return {.tokens = sum_of_lengths(lengths_, batch),
            .steps = steps,
            .nats = nats,
            .share = nats / static_cast<double>(sum_of_lengths(lengths_, step))};
}

Metadata TextData::metadata() const {
    Metadata metadata = tokens_.metadata();
    metadata["format"] = "pt";  // as transformers wants to be told
    return metadata;
}

void TextData::verify_kind(const SafetensorsFile& checkpoint) const {
    const std::optional<TextTokens> theirs = TextTokens::of_weights(checkpoint);
    if (theirs && *theirs == tokens_) return;
    throw UserError("'{}' was trained on other tokens; --resume needs the same --tokenizer",
                    {checkpoint.path()});
}

}  // namespace fovea::runtime
