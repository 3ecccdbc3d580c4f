// Vocabularies against a model's symbolic dims or fixed settings.
#include "vocabulary_dims.h"

#include <algorithm>

#include "../error.h"

namespace fovea::runtime {

namespace {

void add_dim(const Model& model, const std::string& name, std::size_t words,
             const std::string& origin, DimValues& dims) {
    if (std::find(model.dims.begin(), model.dims.end(), name) != model.dims.end()) {
        dims[name] = static_cast<std::int64_t>(words);
        return;
    }
    for (const Setting& setting : model.settings) {
        if (setting.name != name || setting.value == std::to_string(words)) continue;
        throw UserError("this " + model.name + " was generated with " + name + "=" + setting.value +
                        ", but " + origin + " has " + std::to_string(words) +
                        " words; generate it with --set " + name + "=" + std::to_string(words) +
                        ", or leave " + name + " unset");
    }
}

/// Settings of the model that a translator, which pads with <pad>, cannot serve, or not with these
/// vocabularies.
void refuse_other_words(const Model& model, const Vocabulary& source, const Vocabulary& target,
                        const std::string& origin) {
    for (const Setting& setting : model.settings) {
        if (setting.name == "pad" && setting.value != std::to_string(kPad))
            throw UserError("this " + model.name + " was generated with pad=" + setting.value +
                            ", but a translator pads with " + std::to_string(kPad) +
                            "; generate it without --set pad");
        const bool is_shared = setting.name == "share_embeddings" && setting.value == "true";
        if (is_shared && !(source == target))
            throw UserError("this " + model.name +
                            " was generated with share_embeddings=true, but " + origin +
                            " is not one for both languages; train with --bpe and pieces of both "
                            "(tools/learn_bpe.py --joint), or generate it without that setting");
    }
}

}  // namespace

DimValues vocabulary_dims(const Model& model, const Vocabulary& source, const Vocabulary& target,
                          const std::string& origin) {
    refuse_other_words(model, source, target, origin);
    DimValues dims;
    add_dim(model, "src_vocab", source.size(), origin, dims);
    add_dim(model, "tgt_vocab", target.size(), origin, dims);
    return dims;
}

}  // namespace fovea::runtime
