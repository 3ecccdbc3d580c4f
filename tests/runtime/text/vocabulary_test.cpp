// The numbering of words.
#include "../../../runtime/text/vocabulary.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"

using namespace fovea::runtime;

namespace {

const std::vector<std::vector<std::string>> kSentences = {
    {"va", "!"}, {"salut", "!"}, {"été", "va", "zut"}, {"a", "a", "."}, {"."}};

std::vector<std::string> all_words(const Vocabulary& vocabulary) {
    std::vector<std::string> words;
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        words.push_back(vocabulary.word(static_cast<std::int32_t>(i)));
    }
    return words;
}

}  // namespace

TEST_CASE("reserved words, then falling frequency, ties by bytes") {
    CHECK(all_words(Vocabulary::count(kSentences, 1)) ==
          std::vector<std::string>{"<unk>", "<pad>", "<bos>", "<eos>", "!", ".", "a", "va", "salut",
                                   "zut", "été"});
    CHECK(all_words(Vocabulary::count(kSentences, 2)) ==
          std::vector<std::string>{"<unk>", "<pad>", "<bos>", "<eos>", "!", ".", "a", "va"});
    CHECK(Vocabulary::count(kSentences, 3).size() == 4);
}

TEST_CASE("words that are rare, unheard of or reserved are unknown") {
    const Vocabulary vocabulary = Vocabulary::count(kSentences, 2);
    CHECK(vocabulary.ids({"va", "zut", "nie", "!", "<eos>", "<pad>"}) ==
          std::vector<std::int32_t>{7, 0, 0, 4, 0, 0});
    CHECK(vocabulary.words({7, 0, 3}) == std::vector<std::string>{"va", "<unk>", "<eos>"});
}

TEST_CASE("reserved words in the text take no second number") {
    const Vocabulary vocabulary = Vocabulary::count({{"<pad>", "<pad>", "x", "x"}}, 1);
    CHECK(all_words(vocabulary) ==
          std::vector<std::string>{"<unk>", "<pad>", "<bos>", "<eos>", "x"});
}

TEST_CASE("JSON keeps words and numbers") {
    const Vocabulary vocabulary =
        Vocabulary::count({{"\"quoted\"", "back\\slash", "été", "\x01", "日本", "𐐨"}}, 1);
    const Vocabulary back = Vocabulary::from_json(vocabulary.to_json(), "f");
    CHECK(back == vocabulary);
    CHECK(back.id("été") == vocabulary.id("été"));
}

TEST_CASE("JSON that is no vocabulary is refused") {
    for (const char* bad :
         {"", "{}", "[1,2]", "[\"<unk>\"]", "[\"<pad>\",\"<unk>\",\"<bos>\",\"<eos>\"]",
          "[\"<unk>\",\"<pad>\",\"<bos>\",\"<eos>\",\"a\",\"a\"]"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(Vocabulary::from_json(bad, "weights.safetensors"), UserError);
    }
}
