// Vectors that stand for texts, by a model that reads a text as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../session.h"

namespace fovea::runtime {

/// How the vector of a text is made of those of its tokens: their mean, or the first one's.
enum class Pooling { mean, first };

/// The program `forward` of a model with inputs `ids` and, where it has them, `segments` i32
/// [batch, len], all 0, and `lens` i32 [batch]; an f32 output [batch, len, width] has a vector for
/// each token.
class TextEncoder {
  public:
    /// UserError where the model is none such.
    TextEncoder(const Model& model, Parameters& parameters);
    /// Whether a model can be used so.
    static bool fits(const Model& model);

    /// [texts, width]: a vector for each text, of one token at least. Texts are read at once when
    /// the model has lengths, else each by itself; its vector does not depend on the others.
    std::vector<float> encode(std::span<const std::vector<std::int32_t>> texts, Pooling pooling);
    /// UserError where a text, of one token at least, has a token that the model has not.
    void verify_tokens(const std::vector<std::int32_t>& text);
    std::int64_t width() const { return width_; }

  private:
    void fill(std::span<const std::vector<std::int32_t>> texts, std::int64_t longest);
    void run(std::span<const std::vector<std::int32_t>> texts, Pooling pooling,
             std::vector<float>& vectors);

    Instance instance_;
    std::string batch_, length_, output_;  // names of two dims, and of the output
    std::int64_t width_ = 0;
};

}  // namespace fovea::runtime
