// The sizes of the texts that a program of a language model reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "../options.h"
#include "../parameters.h"
#include "../program.h"

namespace fovea::runtime {

/// The sizes of an input i32 [batch, length] of a program.
class TextSizes {
  public:
    /// UserError where they are computed, where the length is not open, or where the batch is not
    /// one and cannot be.
    TextSizes(const Model& model, const Program& program, std::string_view input = "ids");

    /// Of one text of `length` tokens, or of `count`; InternalError where the batch is one.
    DimValues of_text(std::int64_t length, std::int64_t count = 1) const;
    /// The dim that counts texts; empty: there is one.
    const std::string& batch() const { return batch_; }

  private:
    std::string batch_, length_;  // no batch: it is 1
};

/// How many tokens a model with a table of positions reads at most, and the setting that says so.
struct MostPositions {
    std::string setting;
    std::int64_t count = 0;
};
/// None where no setting says it.
std::optional<MostPositions> most_positions(const Model& model);
/// UserError where the model does not read as many tokens as `text` has ("the prompt").
void verify_length(const Model& model, const std::string& text, std::int64_t tokens);
/// The number that an option asks for; its default is at most the positions of the model. UserError
/// where the model does not read as many tokens, of which `text` is made ("a piece of --window").
std::int64_t length_within_positions(const Model& model, const Options& options,
                                     const std::string& option, const std::string& text);

/// The input or output of this name; InternalError where there is none.
const TensorSpec& spec_of(const std::vector<TensorSpec>& specs, std::string_view name);

}  // namespace fovea::runtime
