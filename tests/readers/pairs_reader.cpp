// Sentence pairs: each that is read is UTF-8 on one line, and a limit takes the first ones.
#include "runtime/error.cpp"
#include "runtime/files/files.cpp"
#include "runtime/files/json.cpp"
#include "runtime/files/locked_file.cpp"
#include "runtime/files/number_text.cpp"
#include "runtime/files/parse_json.cpp"
#include "runtime/files/printable.cpp"
#include "runtime/format.cpp"
#include "runtime/parallel/lost_team.cpp"
#include "runtime/text/batches.cpp"
#include "runtime/text/byte_pairs.cpp"
#include "runtime/text/lower_case.cpp"
#include "runtime/text/preprocess.cpp"
#include "runtime/text/read_pairs.cpp"
#include "runtime/text/tokenizer.cpp"
#include "runtime/text/utf8.cpp"
#include "runtime/text/vocabulary.cpp"
#include "runtime/trainer/fingerprint.cpp"
#include "runtime/training/random_stream.cpp"
#include "tests/readers/reader.h"

using namespace fovea::readers;
using namespace fovea::runtime;

namespace {

void check(const std::string& sentence) {
    require(find_invalid_utf8(sentence) == sentence.size(), "a sentence that is not UTF-8");
    require(sentence.find_first_of("\t\n") == std::string::npos, "a sentence of two columns");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    accepts<UserError>([&] {
        const std::string_view text = text_of(data, size);
        const std::vector<SentencePair> pairs = parse_pairs(text, "pairs.tsv");
        require(!pairs.empty(), "no pair and no word about it");
        for (const SentencePair& pair : pairs) {
            check(pair.source);
            check(pair.target);
        }
        require(parse_pairs(text, "pairs.tsv", 1).size() == 1, "a limit that is not kept");
        const Corpus corpus = tokenize(pairs);
        require(corpus.sources.size() == corpus.targets.size(), "sides of different lengths");
    });
    return 0;
}
