// Reading a file of pieces, strictly.
#include "byte_pair_file.h"

#include "../error.h"
#include "../files/files.h"
#include "../files/json.h"

namespace fovea::runtime {

namespace {

Json parse_file(const std::string& path) {
    const std::vector<std::byte> bytes = read_file(path);
    try {
        return parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    } catch (const UserError& error) {
        throw UserError("'" + path + "' is no file of pieces, as tools/learn_bpe.py writes them: " +
                        error.what());
    }
}

const Json& member_of_file(const Json& object, const std::string& key, const std::string& path) {
    const Json* value = object.find(key);
    if (value) return *value;
    throw UserError("'" + path + "' has no \"" + key +
                    "\", but a file of pieces has \"tokens\", \"source\" and \"target\"");
}

TokenKind read_kind(const Json& value, const std::string& path) {
    const auto kind = value.is_string() ? token_kind(value.string()) : std::nullopt;
    if (kind && *kind != TokenKind::words) return *kind;
    throw UserError("'" + path + "': \"tokens\" should be byte_pairs or cased_byte_pairs, not " +
                    value.text());
}

Vocabulary read_pieces(const Json& file, const std::string& side, const std::string& path) {
    const std::string origin = "'" + path + "', " + side;
    Vocabulary pieces = Vocabulary::from_list(member_of_file(file, side, path), origin);
    if (pieces.size() == Vocabulary().size())
        throw UserError(origin + ": no piece stands behind <unk> <pad> <bos> <eos>");
    const BytePairs verified(pieces, origin);
    return pieces;
}

}  // namespace

PieceFile read_piece_file(const std::string& path) {
    const Json file = parse_file(path);
    if (!file.is_object())
        throw UserError("'" + path + "' holds no JSON object, but a file of pieces is one");
    return {read_kind(member_of_file(file, "tokens", path), path),
            read_pieces(file, "source", path), read_pieces(file, "target", path)};
}

}  // namespace fovea::runtime
