// Models by their type, or, in old files, by what they hold.
#include "model.h"

namespace fovea::runtime::tokens {

namespace {

std::string type_of(const Field& field) {
    if (const auto type = field.find("type")) return type->text();
    if (field["vocab"].json().is_array()) return "Unigram";
    if (field.find("merges")) return "BPE";
    return field.find("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

std::unique_ptr<const Model> read_model(const Field& field) {
    const std::string type = type_of(field);
    if (type == "BPE") return read_byte_pairs(field);
    if (type == "Unigram") return read_unigram(field);
    if (type == "WordPiece") return read_word_pieces(field);
    if (type == "WordLevel") return read_word_level(field);
    field["type"].refuse("is '{}', a model without code here", {type});
}

}  // namespace fovea::runtime::tokens
