// A translator's weights file: parameters by PyTorch's names, and what they were trained for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../parameters.h"
#include "../safetensors.h"
#include "../text/tokenizer.h"
#include "../text/vocabulary.h"

namespace fovea::runtime {

/// What the names of a checkpoint's tensors of optimizer state start with.
inline constexpr const char* kOptimizerPrefix = "optimizer.";

/// The `__metadata__` of weights and checkpoints, besides the model's name and settings.
struct WeightsHeader {
    Vocabulary source, target;
    std::uint64_t step = 0;  // training steps done
    std::uint64_t seed = 0;
    std::uint64_t steps = 0;  // tokens that a sentence was padded to; 0: the file does not say
    TokenKind tokens = TokenKind::words;
};

/// The format of weights, and the keys model, settings, src_vocab, tgt_vocab, step, seed and steps;
/// and tokens, where they are no words.
Metadata header_metadata(const Model& model, const WeightsHeader& header);

/// What a file is read for: to go on training, which takes all settings as they were, or to
/// translate, which takes none of those that matter in training alone.
enum class ReadFor { training, inference };

/// The header of a file. UserError when it is of a newer format, or not of this model with these
/// settings; one that the file does not name has its default. The vocabularies' sizes, which the
/// words themselves decide, are not compared here.
WeightsHeader read_header(const SafetensorsFile& file, const Model& model, ReadFor purpose);

/// Writes the parameters alone, atomically.
void save_weights(const std::string& path, Parameters& parameters, const WeightsHeader& header);

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
