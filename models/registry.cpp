// Adding a model: a file beside this one, and a line in `make_entries`.
#include "models/registry.h"

#include <vector>

#include "models/transformer.h"
#include "models/transformer_decode.h"

namespace fovea::models {

namespace {

static_assert(well_formed<[](Scope s) { transformer(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer_encoder(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer_encode(s, {}); }>);
static_assert(well_formed<[](Scope s) { transformer_decode_step(s, {}); }>);

ModelEntry transformer_entry() {
    ModelEntry entry = entry_of<transformer>(
        "transformer", "models/transformer.h",
        {"src_vocab", "tgt_vocab", "hidden", "ffn", "heads", "layers", "dropout", "bias"});
    entry.programs = {{"encode", builder_of<transformer_encode>()},
                      {"decode_step", builder_of<transformer_decode_step>()}};
    entry.driver = Driver::translator;
    entry.small_settings = {{"hidden", "24"}, {"ffn", "40"}, {"heads", "3"}, {"dropout", "0.1"},
                            {"bias", "true"}};
    return entry;
}

ModelEntry transformer_encoder_entry() {
    ModelEntry entry = entry_of<transformer_encoder>(
        "transformer_encoder", "models/transformer.h",
        {"src_vocab", "hidden", "ffn", "heads", "layers", "bias", "norm_over", "src_len"});
    entry.small_settings = {{"hidden", "24"}, {"ffn", "40"}, {"heads", "3"}};
    return entry;
}

std::vector<ModelEntry> make_entries() {
    return {transformer_entry(), transformer_encoder_entry()};
}

}  // namespace

std::span<const ModelEntry> built_in_models() {
    static const std::vector<ModelEntry> entries = make_entries();
    return entries;
}

const ModelEntry* find_model(std::string_view name) {
    for (const ModelEntry& entry : built_in_models())
        if (entry.name == name) return &entry;
    return nullptr;
}

}  // namespace fovea::models
