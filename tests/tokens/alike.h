// A text, and what the package `tokenizers` made of it, beside what we make of it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/files/json.h"
#include "runtime/tokens/tokenizer.h"

namespace fovea::test {

inline std::vector<std::int32_t> ids_in(const runtime::Json& json) {
    std::vector<std::int32_t> ids;
    for (const runtime::Json& id : json.array()) ids.push_back(std::int32_t(id.integer()));
    return ids;
}

inline std::string streamed(const runtime::tokens::JsonTokenizer& tokenizer,
                            const std::vector<std::int32_t>& ids,
                            runtime::tokens::Special special) {
    runtime::tokens::TextStream stream(tokenizer, special);
    std::string text;
    for (const std::int32_t id : ids) text += stream.add(id);
    return text + stream.finish();
}

/// Whether a line [text, ids, ids without special tokens, text with special tokens, text without]
/// holds here, too; lines may lack both texts.
inline bool is_alike(const runtime::tokens::JsonTokenizer& tokenizer,
                     const runtime::Json::Array& line) {
    using runtime::tokens::Special;
    const std::string& text = line[0].string();
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    if (ids != ids_in(line[1]) || tokenizer.encode(text, Special::without) != ids_in(line[2]))
        return false;
    if (line.size() == 3) return true;
    const std::string& with = line[3].string();
    const std::string& without = line[4].string();
    return tokenizer.decode(ids, Special::with) == with && tokenizer.decode(ids) == without &&
           streamed(tokenizer, ids, Special::with) == with &&
           streamed(tokenizer, ids, Special::without) == without;
}

/// Calls `body` with each line of a file; false where there is no such file.
template <class Body>
bool each_json_line(const std::string& path, Body&& body) {
    std::ifstream file(path);
    if (!file.good()) return false;
    for (std::string line; std::getline(file, line);) body(runtime::parse_json(line).array());
    return true;
}

}  // namespace fovea::test
