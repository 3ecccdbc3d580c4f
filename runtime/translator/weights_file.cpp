// What a translator's weights say of its words.
#include "weights_file.h"

#include "../error.h"
#include "../load_parameters.h"
#include "../trainer/finite.h"
#include "limits.h"
#include "vocabulary_dims.h"

namespace fovea::runtime {

namespace {

TokenKind read_token_kind(const SafetensorsFile& file) {
    if (!file.metadata().contains("tokens")) return TokenKind::words;
    const std::string& name = file.metadata_at("tokens");
    if (const auto kind = token_kind(name)) return *kind;
    throw UserError("'" + file.path() + "': tokens in its __metadata__ is '" + name +
                    "', but should be words, byte_pairs or cased_byte_pairs");
}

}  // namespace

Metadata header_metadata(const WeightsHeader& header) {
    Metadata metadata = {{"src_vocab", header.source.to_json()},
                         {"tgt_vocab", header.target.to_json()},
                         {"steps", std::to_string(header.steps)}};
    if (header.tokens != TokenKind::words) metadata["tokens"] = name_of(header.tokens);
    return metadata;
}

WeightsHeader read_header(const SafetensorsFile& file) {
    WeightsHeader header;
    header.source = Vocabulary::from_json(file.metadata_at("src_vocab"), "'" + file.path() + "'");
    header.target = Vocabulary::from_json(file.metadata_at("tgt_vocab"), "'" + file.path() + "'");
    if (file.metadata().contains("steps")) header.steps = count_at(file, "steps");
    if (header.steps > std::uint64_t{kMostSteps})
        throw UserError("'" + file.path() + "': steps in its __metadata__ is " +
                        std::to_string(header.steps) + ", more than the most, " +
                        std::to_string(kMostSteps));
    header.tokens = read_token_kind(file);
    return header;
}

TrainedModel load_trained_model(const std::string& path, const Model& model) {
    const SafetensorsFile file = read_safetensors(path);
    TrainedModel trained;
    verify_weights(file, model, ReadFor::inference, kVocabularySizes);
    trained.header = read_header(file);
    trained.dims = vocabulary_dims(model, trained.header.source, trained.header.target,
                                   "the vocabulary in '" + path + "'");
    trained.parameters = std::make_unique<Parameters>(model, trained.dims);
    // A checkpoint serves as well: its optimizer state is no surprise.
    load_parameters(*trained.parameters, file, kOptimizerPrefix);
    verify_finite(*trained.parameters, path);
    return trained;
}

}  // namespace fovea::runtime
