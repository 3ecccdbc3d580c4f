// A translator's weights file: parameters by PyTorch's names, and what they were trained for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../parameters.h"
#include "../safetensors.h"
#include "../text/tokenizer.h"
#include "../text/vocabulary.h"
#include "../trainer/weights_header.h"

namespace fovea::runtime {

/// The settings that follow from the words themselves: they are not compared.
inline constexpr const char* kVocabularySizes[] = {"src_vocab", "tgt_vocab"};

/// The `__metadata__` of weights and checkpoints, besides what all weights say.
struct WeightsHeader {
    Vocabulary source, target;
    std::uint64_t steps = 0;  // tokens that a sentence was padded to; 0: the file does not say
    TokenKind tokens = TokenKind::words;
};

/// The keys src_vocab, tgt_vocab and steps; and tokens, where they are no words.
Metadata header_metadata(const WeightsHeader& header);

/// The header of a file. UserError where it is not right.
WeightsHeader read_header(const SafetensorsFile& file);

/// A translator as `translate` and `evaluate` need it.
struct TrainedModel {
    WeightsHeader header;
    DimValues dims;  // the vocabularies' sizes
    std::unique_ptr<Parameters> parameters;
};

/// Loads a weights file or a checkpoint. Tensors that the model lacks give a warning on standard
/// error; missing ones, other shapes, another model or other settings are a UserError.
TrainedModel load_trained_model(const std::string& path, const Model& model);

}  // namespace fovea::runtime
