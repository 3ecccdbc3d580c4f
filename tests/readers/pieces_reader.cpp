// Files of byte-pair pieces, and what their pieces make of a sentence: the first line of the input
// is the sentence, the rest is the file.
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/error.cpp"
#include "runtime/files/files.cpp"
#include "runtime/files/json.cpp"
#include "runtime/files/locked_file.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/parse_json.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "runtime/text/byte_pair_file.cpp"
#include "runtime/text/byte_pairs.cpp"
#include "runtime/text/lower_case.cpp"
#include "runtime/text/preprocess.cpp"
#include "runtime/text/tokenizer.cpp"
#include "runtime/text/utf8.cpp"
#include "runtime/text/vocabulary.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::runtime;

namespace {

PieceFile read(std::string_view text) {
    static const int descriptor = memfd_create("pieces", 0);
    static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    require(ftruncate(descriptor, 0) == 0, "no file in memory");
    require(pwrite(descriptor, text.data(), text.size(), 0) == ssize_t(text.size()), "no space");
    return read_piece_file(path);
}

bool is_plain(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~')
            return false;
    return true;
}

void check(const PieceFile& file, const Vocabulary& vocabulary, std::string_view sentence) {
    require(Vocabulary::from_json(vocabulary.to_json(), "again") == vocabulary,
            "a vocabulary that reads back differently");
    const Tokenizer tokenizer(file.kind, vocabulary, "pieces");
    const std::vector<std::string> tokens = tokenizer.tokens(sentence);
    vocabulary.words(vocabulary.ids(tokens));
    const std::string text = tokenizer.text(tokens);
    require(find_invalid_utf8(text) == text.size(), "a decoded text that is not UTF-8");
    if (is_plain(sentence) && file.kind == TokenKind::cased_byte_pairs)
        require(text == join_words(split_words(sentence)), "a sentence that comes back another");
    tokenizer.text(vocabulary.words(std::vector<std::int32_t>(
        {0, std::int32_t(vocabulary.size()) - 1, 3, std::int32_t(vocabulary.size()) / 2})));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view all = text_of(data, size);
    const std::string_view sentence = all.substr(0, all.find('\n'));
    const std::string_view rest = all.substr(std::min(sentence.size() + 1, all.size()));
    accepts<UserError>([&] {
        const PieceFile file = read(rest);
        for (const Vocabulary* vocabulary : {&file.source, &file.target})
            accepts<UserError>([&] { check(file, *vocabulary, sentence); });
    });
    accepts<UserError>([&] { preprocess(all); });
    return 0;
}
