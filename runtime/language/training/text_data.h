// A text as a language model is trained on it: windows of tokens, each with those that come next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../trainer/training_data.h"
#include "../text_tokens.h"

namespace fovea::runtime {

/// What programs of a language model call the sizes of their ids.
struct TextDims {
    std::string batch, length;  // no batch: it is 1
    bool has_lengths = false;   // there are `lens`: windows may be shorter than others
};

/// Of the program `training_step`, whose inputs are `ids`, `labels` [batch, length] and maybe
/// `lens` [batch], and whose `loss` is the mean over all steps, of each sequence or of all.
/// UserError where the model has no such program, or one with other inputs.
TextDims text_dims(const Model& model);

/// The tokens of texts, cut into windows.
class TextData final : public TrainingData {
  public:
    /// Windows have `length` tokens that the loss is of, each text's last one what is left, without
    /// `lens` none. `end`, if any, is a token behind each text. UserError where there is no window.
    TextData(TextTokens tokens, const std::vector<std::string>& texts, std::int64_t length,
             TextDims dims, std::optional<std::int32_t> end = {});

    /// The largest id.
    std::int32_t largest() const;
    const TextTokens& text_tokens() const { return tokens_; }

    std::size_t count() const override { return starts_.size(); }
    std::int64_t tokens(std::uint32_t window) const override { return lengths_[window]; }
    const char* examples() const override { return "windows"; }
    std::uint64_t fingerprint() const override;
    std::vector<DataOption> options() const override;
    /// Gradients of a step are those of the mean over all of its tokens.
    LoadedBatch load(Instance& instance, std::span<const std::uint32_t> batch,
                     std::span<const std::uint32_t> step) const override;
    const char* measuring_program() const override { return "evaluate"; }
    Metadata metadata() const override;
    void verify_kind(const SafetensorsFile& checkpoint) const override;

  private:
    void cut(std::size_t begin, std::size_t end);

    TextTokens tokens_;
    std::int64_t length_;
    TextDims dims_;
    std::vector<std::int32_t> ids_;  // of all texts
    std::vector<std::size_t> starts_;  // of windows, among ids_
    std::vector<std::int32_t> lengths_;  // labels of each
};

}  // namespace fovea::runtime
