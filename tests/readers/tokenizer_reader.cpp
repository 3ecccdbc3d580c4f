// Files of tokenizers, and what they make of a text: the first line of the input is the text, the
// rest is the file.
#include "runtime/error.cpp"
#include "runtime/files/files.cpp"
#include "runtime/files/json.cpp"
#include "runtime/files/locked_file.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/parse_json.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "runtime/text/lower_case.cpp"
#include "runtime/text/utf8.cpp"
#include "runtime/tokens/added_tokens.cpp"
#include "runtime/tokens/field.cpp"
#include "runtime/tokens/models/byte_fallback.cpp"
#include "runtime/tokens/models/byte_pairs_model.cpp"
#include "runtime/tokens/models/byte_trie.cpp"
#include "runtime/tokens/models/merge_pairs.cpp"
#include "runtime/tokens/models/model.cpp"
#include "runtime/tokens/models/token_ids.cpp"
#include "runtime/tokens/models/unigram.cpp"
#include "runtime/tokens/models/words.cpp"
#include "runtime/tokens/pattern/class_parser.cpp"
#include "runtime/tokens/pattern/compile_pattern.cpp"
#include "runtime/tokens/pattern/match_pattern.cpp"
#include "runtime/tokens/pattern/parse_pattern.cpp"
#include "runtime/tokens/pattern/syntax.cpp"
#include "runtime/tokens/steps/bert_normalizer.cpp"
#include "runtime/tokens/steps/byte_letters.cpp"
#include "runtime/tokens/steps/clean_up.cpp"
#include "runtime/tokens/steps/decoders.cpp"
#include "runtime/tokens/steps/edit_text.cpp"
#include "runtime/tokens/steps/normalizers.cpp"
#include "runtime/tokens/steps/post_processor.cpp"
#include "runtime/tokens/steps/pre_tokenizers.cpp"
#include "runtime/tokens/steps/precompiled.cpp"
#include "runtime/tokens/steps/read_pattern.cpp"
#include "runtime/tokens/steps/rewriting_pre_tokenizers.cpp"
#include "runtime/tokens/steps/split.cpp"
#include "runtime/tokens/text_stream.cpp"
#include "runtime/tokens/tokenizer.cpp"
#include "runtime/tokens/unicode/character_set.cpp"
#include "runtime/tokens/unicode/graphemes.cpp"
#include "runtime/tokens/unicode/normal_forms.cpp"
#include "runtime/tokens/unicode/unicode.cpp"
#include "runtime/tokens/word_cache.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using fovea::runtime::find_invalid_utf8;
using fovea::runtime::UserError;
using fovea::runtime::tokens::JsonTokenizer;
using fovea::runtime::tokens::Special;
using fovea::runtime::tokens::TextStream;

namespace {

void check(const JsonTokenizer& tokenizer, std::string_view text) {
    const std::vector<std::int32_t> ids = tokenizer.encode(text);
    require(tokenizer.encode(text) == ids, "other ids the second time");
    for (const Special special : {Special::with, Special::without}) {
        const std::string back = tokenizer.decode(ids, special);
        require(find_invalid_utf8(back) == back.size(), "a decoded text that is not UTF-8");
        TextStream stream(tokenizer, special);
        for (const std::int32_t id : ids) {
            const std::string part = stream.add(id);
            require(find_invalid_utf8(part) == part.size(), "a part of a character");
        }
        stream.finish();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all = text_of(data, size);
    const std::string_view text = all.substr(0, all.find('\n'));
    const std::string_view file = all.substr(std::min(text.size() + 1, all.size()));
    accepts<UserError>([&] {
        const JsonTokenizer tokenizer = JsonTokenizer::from_json(file, "tokenizer.json");
        check(tokenizer, text);
        check(tokenizer, text.substr(0, find_invalid_utf8(text)));
    });
    return 0;
}
