// d2l's preprocessing, on the chapter's sentences and on what Unicode adds.
#include "../../../runtime/text/preprocess.h"

#include <doctest/doctest.h>

#include "../../../runtime/error.h"

using namespace fovea::runtime;

TEST_CASE("punctuation gets a space before it") {
    CHECK(preprocess("Go.") == "go .");
    CHECK(preprocess("Wow!") == "wow !");
    CHECK(preprocess("Hi , there") == "hi , there");
    CHECK(preprocess("Well...no?!") == "well . . .no ? !");
    CHECK(preprocess("!yes") == "!yes");
    CHECK(preprocess("3.14") == "3 .14");
    CHECK(preprocess("") == "");
}

TEST_CASE("no-break spaces are spaces") {
    CHECK(preprocess("Ça alors\u202f!") == "ça alors !");
    CHECK(preprocess("Qui\u00a0?") == "qui ?");
    CHECK(split_words(preprocess("Un\u00a0deux\u202f!")) ==
          std::vector<std::string>{"un", "deux", "!"});
}

TEST_CASE("lower case is Unicode's") {
    CHECK(preprocess("ÉTÉ ÀÇŒŸ") == "été àçœÿ");
    CHECK(preprocess("ПРИВЕТ Ёлка") == "привет ёлка");
    CHECK(preprocess("ΑΘΗΝΑ Ώ") == "αθηνα ώ");
    CHECK(preprocess("ԱԲ ႠႡ Ꭰ") == "աբ ⴀⴁ ꭰ");
    CHECK(preprocess("ẞ Ǆ ǅ 𐐀") == "ß ǆ ǆ 𐐨");
    CHECK(preprocess("日本語 ß ı") == "日本語 ß ı");
}

TEST_CASE("the two mappings that depend on more than the character") {
    CHECK(preprocess("İ") == "i\u0307");
    CHECK(preprocess("ΟΔΟΣ") == "οδος");
    CHECK(preprocess("ΟΔΟΣ. Σ ΣΑ ΑΣ'Α") == "οδος . σ σα ασ'α");
}

TEST_CASE("words are split at white space and none is empty") {
    CHECK(split_words("  a  b\tc\r\n") == std::vector<std::string>{"a", "b", "c"});
    CHECK(split_words("") == std::vector<std::string>{});
    CHECK(split_words(" \t ") == std::vector<std::string>{});
    CHECK(join_words({"a", "b"}) == "a b");
    CHECK(join_words({}) == "");
}

TEST_CASE("a sentence that is not UTF-8 is the user's mistake") {
    CHECK_THROWS_WITH_AS(preprocess("caf\xE9"), "the sentence is not UTF-8 at byte 4", UserError);
}
