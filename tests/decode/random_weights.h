// Weights and a tokenizer for programs of small models.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/reference/interpreter.h"

namespace fovea::test {

constexpr int kWordCount = 29;  // as many as the small models know

/// Random weights of a model, by name; they lie as long as this lives.
class RandomWeights {
  public:
    explicit RandomWeights(const Graph& graph);

    /// Those that its program has: a step of a model with a source reads no encoder.
    void set(Interpreter& interpreter) const;
    void write(const std::string& path) const;

  private:
    std::vector<std::pair<std::string, Array>> arrays_;
};

/// A tokenizer.json of whole words: w0, w1, …
void write_word_tokenizer(const std::string& path);

}  // namespace fovea::test
